import { createHmac } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { matches, stable } from '../docs/stable-output.ts';
import { folderWithSpace, here, node, npmFolder, npmShim, start, windowsPath } from './windows.ts';

const folder = folderWithSpace();
const tools = folderWithSpace();

/** The session with cmd on the page: each command with its output and its exit code. */
const page = readFileSync(here('../../docs/platforms.md'), 'utf8');
const [, session = ''] = /^```text\n(.*?)^```$/ms.exec(page) ?? [];
const shownSteps = [
  ...session.matchAll(/^C:\\shop>([^\n]*)\n(.*?)^C:\\shop>echo %ERRORLEVEL%\n(\d+)$/gms),
].map(([, command = '', output = '', code]) => [command, output.trim(), Number(code)] as const);

/** Returns output without its progress: a slow machine sees fewer states of a run. */
const comparable = (output: string) => stable(output).replace(/^.*: (?:in_progress|completed) \(.*\n/gm, '');

beforeAll(async () => {
  // npm and Node as their installer for Windows puts them into one folder. cmd on Windows does not print the label in the first line.
  mkdirSync(join(tools, 'node_modules'));
  symlinkSync(npmFolder, join(tools, 'node_modules/npm'), 'junction');
  cpSync(node, join(tools, 'node.exe'));
  writeFileSync(
    join(tools, 'npx.cmd'),
    readFileSync(join(npmFolder, 'bin/npx.cmd'), 'utf8').replace(/^::.*\r?\n/, ''),
  );

  const installed = join(folder, 'node_modules/rungate');
  for (const part of ['package.json', 'bin', 'dist', 'docs/rungate.schema.json']) {
    cpSync(here(`../../${part}`), join(installed, part), { recursive: true });
  }
  await npmShim(join(installed, 'bin/rungate.js'), join(folder, 'node_modules/.bin/rungate'));
  mkdirSync(join(folder, '.git'));
  mkdirSync(join(folder, 'ci'));
  const listed = { devDependencies: { rungate: '*' } };
  const packages = { '': listed, 'node_modules/rungate': {} };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, ...listed }));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }));
  writeFileSync(
    join(folder, 'ci/gate.cmd'),
    // npx has put rungate on the path; to start it once more would take seconds.
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

it.each(shownSteps)('in cmd, %s prints what the page shows', async (command, shown, shownCode) => {
  writeFileSync(
    join(folder, 'step.cmd'),
    `@set RUNGATE_WEBHOOK_SECRET=whsec_example\r\n@set NO_COLOR=1\r\n@${command}\r\n`,
  );
  const { code, out, err } = await start('cmd', ['/c', 'step.cmd'], {
    cwd: folder,
    tools,
    // npm asks the registry for its newest version otherwise.
    env: {
      npm_config_update_notifier: 'false',
      npm_config_userconfig: windowsPath(join(tools, 'npmrc')),
    },
  });
  const real = comparable(`${err}${out}`.replaceAll('\r', ''));
  const expected = comparable(shown);
  expect({ code, real: matches(expected, real) ? expected : real }).toEqual({
    code: shownCode,
    real: expected,
  });
});
