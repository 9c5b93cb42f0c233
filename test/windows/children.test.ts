import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { folderWithSpace, node, npmShim, rungate, start, windowsPath } from './windows.ts';

const folder = folderWithSpace();
const printed = join(folder, 'args.json');
const script = 'node_modules/tool/tool.js';
const env = { ARGS_FILE: windowsPath(printed) };

/** Arguments as users write them. */
const plain = [
  ...[
    'a b',
    'a  b ',
    '',
    'a&b',
    'a & b',
    'a|b',
    '<in >out',
    'a^b',
    '^',
    '^^',
    '!x!',
    '(x)',
    "it's",
    '*',
    '?',
  ],
  ...['5" & 6', '" | more', 'a" > b.txt', 'a\\\\"b'],
  ...['say "hi"', 'q"q', '"', 'a\\"b', 'end\\', 'a b\\', 'a\\\\', 'C:\\a b\\', '\\\\server\\share\\x'],
  ...['--project=a b', 'a,b;c=d', '$HOME', '`id`', 'tab\there', 'é ü ñ', '漢字', '🎈 Ω', '--', '@x'],
];
/** Wine's cmd expands variables once more in the arguments that a batch file passes on; that of Windows does not. */
const percents = ['%PATH%', '100%', '%%', '%CD%\\x', '%~dp0'];

beforeAll(async () => {
  for (const one of ['node_modules/.bin', dirname(script), 'ci'])
    mkdirSync(join(folder, one), { recursive: true });
  writeFileSync(
    join(folder, script),
    "#!/usr/bin/env node\nrequire('fs').writeFileSync(process.env.ARGS_FILE, JSON.stringify(process.argv.slice(2)));\n",
  );
  await npmShim(join(folder, script), join(folder, 'node_modules/.bin/tool'));
  const batch = `@echo off\r\nnode "%~dp0..\\${script.replaceAll('/', '\\')}" %*\r\n`;
  writeFileSync(join(folder, 'ci/step'), readFileSync(join(folder, script)));
  for (const name of ['gate.cmd', 'gate.bat']) writeFileSync(join(folder, 'ci', name), batch);
});

const commands: [name: string, command: string[], args: string[]][] = [
  ['an .exe', [windowsPath(node), script], [...plain, ...percents]],
  ['an .exe on the path, without its ending', ['node', script], [...plain, ...percents]],
  ['a script whose first line names node', ['./ci/step'], [...plain, ...percents]],
  ['a .cmd of npm', ['node_modules/.bin/tool.cmd'], plain],
  ['a .cmd of npm, without its ending', ['node_modules\\.bin\\tool'], plain],
  ['a .cmd of the user', ['ci\\gate.cmd'], plain],
  ['a .bat with an absolute path', [windowsPath(join(folder, 'ci/gate.bat'))], plain],
];

describe.each(commands)('%s', (_name, command, args) => {
  it('receives the arguments of mock exec unchanged', async () => {
    writeFileSync(printed, '');
    const ended = await rungate(['mock', 'exec', '--', ...command, ...args], { cwd: folder, env });
    expect(ended).toEqual({ code: 0, out: '', err: '' });
    expect(JSON.parse(readFileSync(printed, 'utf8'))).toEqual(args);
  });

  it('receives the arguments of selftest unchanged', async () => {
    writeFileSync(printed, '');
    const ended = await rungate(['selftest', '--scenario', 'failed', '--', ...command, ...args], {
      cwd: folder,
      env,
    });
    // The tool does not call the gate.
    expect(ended).toMatchObject({ code: 1, out: expect.stringContaining('failed\tred\t0\tWRONG') });
    expect(JSON.parse(readFileSync(printed, 'utf8'))).toEqual(args);
  });
});

it('an argument that is not quoted arrives in parts, so the tests above would fail', async () => {
  const plant = `
    const { spawnSync } = require('node:child_process');
    spawnSync('node', ['${script}', ...${JSON.stringify(plain)}], { shell: true, stdio: 'inherit' });
  `;
  writeFileSync(printed, '');
  await start(node, ['--eval', plant], { cwd: folder, env });
  expect(readFileSync(printed, 'utf8')).not.toContain('"a b"');
});
