import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Mock, startMock } from '../../src/mock/server.ts';
import { signSync } from '../../src/webhook/node.ts';
import { bin, start } from '../e2e/built.ts';
import type { ShellExample } from './shell-examples.ts';
import { mark, scriptOf } from './shell-script.ts';

const secret = 'whsec_of_the_examples';
const body = '{"event":"run.completed","runId":"run_1"}\n';
const signed = signSync({ body, secret });

/** What the examples find where they are run. */
const files: Readonly<Record<string, string>> = {
  'event.json': body,
  'capture.http': `POST /hook HTTP/1.1\r\nX-Service-Timestamp: ${signed.timestamp}\r\nX-Service-Signature: ${signed.signature}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  'ci/gate.sh': '#!/bin/sh\nexec npx rungate run trigger --project shop --process checkout --wait --strict\n',
  'deploy.sh': '#!/bin/sh\necho deployed\n',
  // Polls as fast as a test should; everything else is as for anybody.
  'home/.config/rungate/profiles.json':
    '{"version":1,"profiles":{"default":{"settings":{"interval":"200ms"},"secrets":{}}}}\n',
  'bin/rungate': `#!/bin/bash
case "$1 $2" in
  # A port of its own, so that examples and other tests can be run at a time.
  'mock serve' | 'webhooks listen') [[ "$*" == *--port* ]] || set -- "$@" --port 0 ;;
esac
exec '${process.execPath}' '${bin}' "$@"
`,
  'bin/npx': `#!/bin/bash
[ "$1" != --yes ] || shift
[[ "$1" =~ ^rungate(@.*)?$ ]] || { echo "no npx but of rungate: $*" >&2; exit 98; }
exec rungate "\${@:2}"
`,
};

const projectFile = '{ "project": "shop", "process": "checkout" }\n';

/** How an example went: null where it was as the page says, else what was not. */
export interface Went {
  problem: string | null;
  /** What each command printed, on both streams in their order. */
  printed: string[];
}

/** The folder of an example: a repository to be in, a home, and what is on the path. */
function furnish(folder: string, { stands }: ShellExample, { token, apiKey }: Mock): void {
  const own = { ...files, 'token.txt': `${token}\n`, 'key.txt': `${apiKey}\n` };
  const all = stands.includes('.rungate.json') ? { ...own, 'work/.rungate.json': projectFile } : own;
  for (const [name, content] of Object.entries(all)) {
    const path = join(folder, /^(home|bin|work)\//.test(name) ? name : `work/${name}`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    chmodSync(path, 0o700);
  }
  execFileSync('git', ['init', '--quiet', '--initial-branch', 'main', join(folder, 'work')]);
}

/** Of what the mock has from the start, keys alone have no ids that a page could name: so there is one that has. */
function addNamedKey({ state, token }: Mock): void {
  const { tenant } = state.credentials.get(token) ?? { tenant: '' };
  const facts = { name: 'old', scopes: [], apiKey: 'rg_of_key_123', createdAt: '2026-01-01T00:00:00Z' };
  state.keys.set('key_123', { id: 'key_123', tenant, ...facts });
}

/** All of the environment: nothing of the machine's own counts. */
function environment(folder: string, mock: Mock): string[] {
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    HOME: join(folder, 'home'),
    TMPDIR: folder,
    RUNGATE_API_URL: mock.url,
    RUNGATE_API_KEY: mock.apiKey,
    RUNGATE_TOKEN: mock.token,
    RUNGATE_WEBHOOK_SECRET: secret,
  };
  return Object.entries(env).map(([name, value]) => `${name}=${value}`);
}

/** The script ends as its last command does, or as that says: `exit "$code"`. */
const lastCode = ({ commands }: ShellExample) =>
  commands.at(-1)?.untilStopped ? 130 : commands.at(-1)?.exits;

/** Both streams in one, in the order in which a terminal would show them; what the script finds wrong beside it. */
const launch = 'exec 3> "$1" > "$2" 2>&1; exec bash --noprofile --norc "$0" < "$3"';

/** Runs an example in bash: in a new repository, with the built file as `rungate`, against a mock. */
export async function runExample(example: ShellExample): Promise<Went> {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-docs-'));
  const mock = await startMock({ duration: 300, retryAfterSeconds: 0.2 });
  const path = (name: string) => join(folder, name);
  try {
    furnish(folder, example, mock);
    addNamedKey(mock);
    const stands = { 'https://service.example.com': mock.url, 'your-api-key': mock.apiKey };
    writeFileSync(path('example.sh'), scriptOf(example, stands));
    // The last one is what a person types where a command asks for it.
    const places = ['example.sh', 'wrong', 'printed', 'work/key.txt'].map(path);
    const words = ['-i', ...environment(folder, mock), 'bash', '-c', launch, ...places];
    const { code } = await start('env', words, {}, path('work')).ended;
    const wrong = readFileSync(path('wrong'), 'utf8');
    return {
      problem: wrong || (code === lastCode(example) ? null : `bash ended with ${code}`),
      printed: readFileSync(path('printed'), 'utf8').split(`\n${mark}`),
    };
  } finally {
    await mock.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
