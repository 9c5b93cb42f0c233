import { createHmac } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { matches, stable } from '../docs/stable-output.ts';
import {
  folderWithSpace,
  here,
  install,
  installPackage,
  isExecutable,
  node,
  npmFolder,
  npmShim,
  rungate,
  start,
  windowsPath,
} from './windows.ts';

const folder = folderWithSpace();
const tools = folderWithSpace();

/** The session with cmd on the page: each command with its output and its exit code. */
const page = readFileSync(here('../../docs/project/platforms.md'), 'utf8');
const [, session = ''] = /^```text\n(.*?)^```$/ms.exec(page) ?? [];
const shownSteps = [
  ...session.matchAll(/^C:\\shop>([^\n]*)\n(.*?)^C:\\shop>echo %ERRORLEVEL%\n(\d+)$/gms),
].map(([, command = '', output = '', code]) => [own(command), own(output).trim(), Number(code)] as const);

/** Returns a text of the page for the program under test: an executable needs no npx. */
function own(text: string): string {
  return isExecutable ? text.replaceAll('npx rungate', 'rungate') : text;
}

/** Returns output without its progress: a slow machine sees fewer states of a run. */
const comparable = (output: string) => stable(output).replace(/^.*: (?:in_progress|completed) \(.*\n/gm, '');

/** Installs npm and Node into one folder, as their installer for Windows does, and the package into the project. */
async function installForNpx(): Promise<void> {
  mkdirSync(join(tools, 'node_modules'));
  symlinkSync(npmFolder, join(tools, 'node_modules/npm'), 'junction');
  cpSync(node, join(tools, 'node.exe'));
  writeFileSync(
    join(tools, 'npx.cmd'),
    // cmd on Windows does not print the label in the first line.
    readFileSync(join(npmFolder, 'bin/npx.cmd'), 'utf8').replace(/^::.*\r?\n/, ''),
  );
  const installed = join(folder, 'node_modules/rungate');
  installPackage(installed);
  await npmShim(join(installed, 'bin/rungate.js'), join(folder, 'node_modules/.bin/rungate'));
  const listed = { devDependencies: { rungate: '*' } };
  const packages = { '': listed, 'node_modules/rungate': {} };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, ...listed }));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }));
}

beforeAll(async () => {
  if (isExecutable) install(tools);
  else await installForNpx();
  mkdirSync(join(folder, '.git'));
  mkdirSync(join(folder, 'ci'));
  writeFileSync(
    join(folder, 'ci/gate.cmd'),
    // npx has put the package on the path; to start it once more would take seconds.
    '@rungate gate --project shop --process checkout\r\n',
  );
  const [timestamp, body] = [new Date().toISOString(), '{"event":"run.completed"}'];
  const signature = createHmac('sha256', 'whsec_example').update(`${timestamp}.${body}`).digest('hex');
  const head = `POST / HTTP/1.1\r\nX-Service-Timestamp: ${timestamp}\r\nX-Service-Signature: sha256=${signature}`;
  writeFileSync(join(folder, 'capture.http'), `${head}\r\n\r\n${body}`);
});

it('the page shows a command of each of the five first steps', () => {
  expect(shownSteps).toHaveLength(5);
});

/** Runs lines of a batch file in cmd. */
function inCmd(...lines: readonly string[]) {
  writeFileSync(join(folder, 'step.cmd'), lines.map((line) => `@${line}\r\n`).join(''));
  // npm asks the registry for its newest version otherwise.
  const npm = {
    npm_config_update_notifier: 'false',
    npm_config_userconfig: windowsPath(join(tools, 'npmrc')),
  };
  return start('cmd', ['/c', 'step.cmd'], { cwd: folder, tools, env: npm });
}

it.each(shownSteps)('in cmd, %s prints what the page shows', async (command, shown, shownCode) => {
  const { code, out, err } = await inCmd(
    'set RUNGATE_WEBHOOK_SECRET=whsec_example',
    'set NO_COLOR=1',
    command,
  );
  const printed = `${err}${out}`.replaceAll('\r', '');
  // The folder has a lockfile, so that npx finds the package.
  const real = comparable(printed.replace(/, and\n +package\.json, package-lock\.json/, ''));
  const expected = comparable(shown);
  expect({ code, real: matches(expected, real) ? expected : real }).toEqual({
    code: shownCode,
    real: expected,
  });
});

describe.runIf(isExecutable)('the executable', () => {
  it('says which Node it contains', async () => {
    const { out } = await rungate(['--version'], { cwd: folder });
    expect(out).toMatch(/^\d+\.\d+\.\d+ \(binary, Node 24\.\d+\.\d+\)\n$/);
  });

  it('returns to a batch file without call, and its exit code is ERRORLEVEL', async () => {
    const run = (outcome: string) =>
      `rungate mock exec --outcome ${outcome} --duration 1ms --retry-after 0.1 -- rungate gate --process a`;
    const echo = 'echo %ERRORLEVEL%';
    const { out, err } = await inCmd(run('passed'), echo, run('failed'), echo, run('blocked'), echo);
    expect([out, err]).toEqual([
      expect.stringMatching(/\s0\r\n.*\s1\r\n.*\s2\r\n$/s),
      expect.stringContaining('(exit 2)'),
    ]);
  });
});
