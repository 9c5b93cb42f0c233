import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { signSync } from '../../src/webhook/node.ts';
import { bin, root, start } from '../e2e/built.ts';
import { changed, commit, image, sealed, trusted } from '../receipt/table.ts';
import { textOf } from './pages.ts';
import type { ShellExample } from './shell-examples.ts';
import { mark, scriptOf } from './shell-script.ts';

const secret = 'whsec_of_the_examples';
const body = '{"event":"run.completed","runId":"run_1"}\n';
const signed = signSync({ body, secret });

/** A receipt of now, so that it is not too old. */
async function receiptOf(own: object) {
  const now = { finishedAt: new Date().toISOString() };
  const statement = changed(({ facts }) => Object.assign(facts, now, own));
  return JSON.stringify(await sealed(JSON.stringify(statement)));
}

const deployed = { url: '', pointer: null, expected: commit, matches: true, version: commit };

/** The files in the folder of an example. */
const files: Readonly<Record<string, string>> = {
  'event.json': body,
  'receipt.json': await receiptOf({ deployed }),
  'receipts/api.json': await receiptOf({ gate: 'api' }),
  'receipts/web.json': await receiptOf({ gate: 'web' }),
  'ci.pub': trusted.publicPem,
  'capture.http': `POST /hook HTTP/1.1\r\nX-Service-Timestamp: ${signed.timestamp}\r\nX-Service-Signature: ${signed.signature}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  'ci/gate.sh': '#!/bin/sh\nexec npx rungate gate --project shop --process checkout\n',
  'ci/loop.sh':
    /```text\n(#!\/bin\/sh\n.*?)```/s.exec(textOf('docs/how-to/migrate-from-a-loop.md'))?.[1] ?? '',
  'fixtures/curl-loop.sh': readFileSync(join(root, 'fixtures/curl-loop.sh'), 'utf8'),
  'deploy.sh': '#!/bin/sh\necho deployed\n',
  'bin/rungate': `#!/bin/bash
case "$1 $2" in
  # Use a free port, so that examples and other tests can run at the same time.
  'mock serve' | 'webhooks listen' | 'hub '*) [[ "$*" == *--port* ]] || set -- "$@" --port 0 ;;
esac
exec '${process.execPath}' '${bin}' "$@"
`,
  'bin/npx': `#!/bin/bash
[ "$1" != --yes ] || shift
[ "$1 $2 $3 $4" != '-p rungate -p @redis/client' ] || shift 4
[[ "$1" =~ ^rungate(@.*)?$ ]] || { echo "npx runs only rungate here: $*" >&2; exit 98; }
exec rungate "\${@:2}"
`,
};

/** A short interval keeps the tests fast; every other setting has its default, except that a terminal shows tables. */
function profiles(needs: readonly string[]): string {
  const settings = { interval: '200ms', ...(needs.includes('a terminal') ? { format: 'table' } : {}) };
  return JSON.stringify({ version: 1, profiles: { default: { settings, secrets: {} } } });
}

const projectFile = `{
  "project": "shop",
  "process": "checkout",
  "gates": { "api": { "process": "api-smoke" }, "web": { "tags": ["web"], "needs": ["api"] } }
}
`;

const gatesFile = JSON.stringify({
  project: 'shop',
  gates: {
    api: { process: 'api-smoke' },
    web: { tags: ['web'], needs: ['api'] },
    perf: { process: 'perf', advisory: true },
  },
});

/** The result of an example. */
export interface ExampleResult {
  /** The first difference from the page, or null. */
  problem: string | null;
  /** The output of each command, both streams in order. */
  printed: string[];
}

/** Creates the folder of an example: a repository, a home directory, and the programs on the path. */
function prepareFolder(folder: string, { needs }: ShellExample, { token, apiKey }: MockServer): void {
  const base = {
    ...files,
    'home/.config/rungate/profiles.json': profiles(needs),
    'token.txt': `${token}\n`,
    'key.txt': `${apiKey}\n`,
  };
  const settings = needs.includes('gates') ? gatesFile : projectFile;
  const all = needs.some((need) => need !== 'a terminal')
    ? { ...base, 'work/.rungate.json': settings }
    : base;
  for (const [name, content] of Object.entries(all)) {
    const path = join(folder, /^(home|bin|work)\//.test(name) ? name : `work/${name}`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    chmodSync(path, 0o700);
  }
  execFileSync('git', ['init', '--quiet', '--initial-branch', 'main', join(folder, 'work')]);
}

/** Adds a key with a fixed id: keys are the only data of the mock whose ids a page cannot know. */
function addNamedKey({ state }: MockServer): void {
  const facts = { name: 'old', scopes: [], apiKey: 'rg_of_key_123', createdAt: '2026-01-01T00:00:00Z' };
  state.keys.set('key_123', { id: 'key_123', ...facts });
}

/** Returns the whole environment: nothing comes from the machine. */
function environment(folder: string, mock: MockServer): string[] {
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    HOME: join(folder, 'home'),
    TMPDIR: folder,
    RUNGATE_API_URL: mock.url,
    RUNGATE_API_KEY: mock.apiKey,
    RUNGATE_TOKEN: mock.token,
    RUNGATE_WEBHOOK_SECRET: secret,
    RUNGATE_HUB_TOKEN: 'token_of_the_examples',
    // Without GITHUB_ACTIONS, it does not make the job one of GitHub.
    GITHUB_SHA: commit,
    IMAGE: image.name,
    DIGEST: `sha256:${image.digest.sha256}`,
  };
  return Object.entries(env).map(([name, value]) => `${name}=${value}`);
}

/** Returns the exit code of the script: that of its last command. */
const lastCode = ({ commands }: ShellExample) =>
  commands.at(-1)?.untilStopped ? 130 : commands.at(-1)?.exits;

/** Merges both streams in order, as a terminal does; problems go to file descriptor 3. */
const launch = 'exec 3> "$1" > "$2" 2>&1; exec bash --noprofile --norc "$0" < "$3"';

/** Runs an example in bash: in a new repository, with the built file as `rungate`, against a mock. */
export async function runExample(example: ShellExample): Promise<ExampleResult> {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-docs-'));
  const mock = await startMock({ duration: 300, retryAfterSeconds: 0.2 });
  const path = (name: string) => join(folder, name);
  try {
    prepareFolder(folder, example, mock);
    addNamedKey(mock);
    const values = { 'https://service.example.com': mock.url, 'your-api-key': mock.apiKey };
    writeFileSync(path('example.sh'), scriptOf(example, values));
    // The last path is standard input, for commands that read a key.
    const paths = ['example.sh', 'wrong', 'printed', 'work/key.txt'].map(path);
    const args = ['-i', ...environment(folder, mock), 'bash', '-c', launch, ...paths];
    const { code } = await start('env', args, {}, path('work')).ended;
    const problem = readFileSync(path('wrong'), 'utf8');
    return {
      problem: problem || (code === lastCode(example) ? null : `bash exited with ${code}`),
      printed: readFileSync(path('printed'), 'utf8').split(`\n${mark}`),
    };
  } finally {
    await mock.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
