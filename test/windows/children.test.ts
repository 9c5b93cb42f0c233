import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { until } from '../until.ts';
import {
  folderWithSpace,
  install,
  isExecutable,
  isWindows,
  node,
  npmShim,
  rungate,
  windowsPath,
} from './windows.ts';

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
/** Arguments that would write a file if a part of them were a command. */
const attacks = ['&', '|', '||', ') & (', '^&', '^" &', '\\" &', '\\\\" &', '"" &', '!x! &'].flatMap(
  (operator) => ['', '"', '"" ', '^'].map((quote) => `${quote} ${operator} echo x>pwned & ${quote}`),
);
const pwned = join(folder, 'pwned');
const characters = fc.constantFrom(...'""""\\\\\\^&|<>()!,;=  \t\'`*?~:@#$-/aZ0é\u001a\u007f');
const hostile = fc.sample(fc.string({ unit: characters, maxLength: 9 }), 150);
const percents = [
  '%PATH%',
  '100%',
  '%%',
  '%CD%\\x',
  '%~dp0',
  '%1',
  '%*',
  '%OS:~0,1%',
  '"%OS:W=" & echo x>pwned & "%',
];
/** Wine's cmd expands variables once more in the arguments that a batch file passes on; that of Windows does not. */
const batch = [...plain, ...attacks, ...hostile, ...(isWindows ? percents : [])];
const direct = [...plain, ...attacks, ...hostile, ...percents, 'two\nlines\r\n'];

beforeAll(async () => {
  for (const one of ['node_modules/.bin', dirname(script), 'ci'])
    mkdirSync(join(folder, one), { recursive: true });
  const source =
    "require('fs').writeFileSync(process.env.ARGS_FILE, JSON.stringify(process.argv.slice(2)));\n";
  writeFileSync(join(folder, script), `#!/usr/bin/env node\n${source}`);
  await npmShim(join(folder, script), join(folder, 'node_modules/.bin/tool'));
  writeFileSync(join(folder, 'ci/step'), `#!/usr/bin/env node\n${source}`);
  writeFileSync(join(folder, 'ci/with-option'), `#!/usr/bin/node --no-warnings\r\n${source}`);
  writeFileSync(join(folder, 'ci/with-batch'), `#!/usr/bin/env interpreter\n${source}`);
  // PATHEXT has .BAT before .CMD.
  writeFileSync(join(folder, 'interpreter.bat'), '@node %*\r\n');
  writeFileSync(join(folder, 'interpreter.cmd'), '@exit /b 9\r\n');
  const text = `@echo off\r\nnode "%~dp0..\\${script.replaceAll('/', '\\')}" %*\r\n`;
  for (const name of ['gate.cmd', 'gate.bat']) writeFileSync(join(folder, 'ci', name), text);
});

const commands: [name: string, command: string[], args: string[]][] = [
  ['an .exe', [windowsPath(node), script], direct],
  ['an .exe on the path, without its ending', ['node', script], direct],
  ['a script whose first line names node', ['./ci/step'], direct],
  ['a script whose first line names node with an option', ['ci/with-option'], direct],
  ['a script whose first line names a .bat without its ending', ['ci\\with-batch'], batch],
  ['a .cmd of npm', ['node_modules/.bin/tool.cmd'], batch],
  ['a .cmd of npm, without its ending', ['node_modules\\.bin\\tool'], batch],
  ['a .cmd of the user', ['ci\\gate.cmd'], batch],
  ['a .bat with an absolute path', [windowsPath(join(folder, 'ci/gate.bat'))], batch],
];

it.each(commands)('%s receives the arguments of mock exec unchanged', async (_name, command, args) => {
  writeFileSync(printed, '');
  const ended = await rungate(['mock', 'exec', '--', ...command, ...args], { cwd: folder, env });
  expect(ended).toEqual({ code: 0, out: '', err: '' });
  expect(JSON.parse(readFileSync(printed, 'utf8'))).toEqual(args);
});

it('cmd /c receives a single argument as its command line, and several as they are', async () => {
  const line = `node ${script} "a b" "c & d" && echo done`;
  const commands: [args: string[], received: string[]][] = [
    [
      ['/d', '/C', line],
      ['a b', 'c & d'],
    ],
    [
      ['/c', 'node', script, '/c', 'a b'],
      ['/c', 'a b'],
    ],
  ];
  for (const [args, received] of commands) {
    const ended = await rungate(['mock', 'exec', '--', 'cmd', ...args], { cwd: folder, env });
    expect(ended).toMatchObject({ code: 0, out: args.includes(line) ? 'done\r\n' : '', err: '' });
    expect(JSON.parse(readFileSync(printed, 'utf8'))).toEqual(received);
  }
});

describe('selftest', () => {
  const gate = 'rungate run trigger --project a --process b --wait --strict --timeout 30s';

  it.each(commands.filter(([name]) => /^an .exe$|of npm$|absolute/.test(name)))(
    'passes the arguments to %s unchanged',
    async (_name, command, args) => {
      writeFileSync(printed, '');
      const selftest = ['selftest', '--scenario', 'failed', '--'];
      const ended = await rungate([...selftest, ...command, ...args], { cwd: folder, env });
      // The tool does not call the gate.
      expect(ended).toMatchObject({ code: 1, out: expect.stringContaining('failed\tred\t0\tWRONG') });
      expect(JSON.parse(readFileSync(printed, 'utf8'))).toEqual(args);
    },
  );

  it('finds a .cmd that calls rungate in order, rungate itself too, and a .cmd that ignores it wrong', async () => {
    const right = `@call ${gate}\r\n@if errorlevel 1 exit /b %ERRORLEVEL%\r\n@echo deployed\r\n`;
    writeFileSync(join(folder, 'ci/right.cmd'), right);
    writeFileSync(join(folder, 'ci/wrong.cmd'), `@call ${gate}\r\n@exit /b 0\r\n`);
    // Wine's cmd expands the value of a variable once more.
    const installed = join(folder, isWindows ? '100% é' : 'é');
    const own = install(installed);
    const selftest = (...args: string[]) =>
      rungate(['selftest', '--scenario', 'failed', ...args], { cwd: folder }, own);
    expect(await selftest('--scenario', 'passed', '--parallel', '2', '--', 'ci\\right')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/passed\tgreen\t0\tok[\s\S]*failed\tred\t1\tok/),
    });
    for (const [step, code, shown] of [
      [gate.split(' '), 0, 'failed\tred\t1\tok'],
      [['ci\\wrong'], 1, 'failed\tred\t0\tWRONG'],
    ] as const)
      expect(await selftest('--', ...step)).toMatchObject({ code, out: expect.stringContaining(shown) });
  });

  it.runIf(isExecutable)('finds a .cmd wrong that ignores the executable, which needs no call', async () => {
    writeFileSync(join(folder, 'ci/no-call.cmd'), `@${gate}\r\n@exit /b 0\r\n`);
    const ended = await rungate(['selftest', '--scenario', 'failed', '--', 'ci\\no-call'], { cwd: folder });
    expect(ended).toMatchObject({ code: 1, out: expect.stringContaining('failed\tred\t0\tWRONG') });
  });

  it('stops a step at its time limit, on Windows with the processes that it started', async () => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => {}).once('close', () => sockets.delete(socket)));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    writeFileSync(join(folder, 'ci/wait.cmd'), '@node ci\\wait.js\r\n');
    const wait = `require('net').connect(${port}, '127.0.0.1').resume().on('close', () => process.exit())`;
    writeFileSync(join(folder, 'ci/wait.js'), wait);
    const selftest = ['selftest', '--scenario', 'passed', '--time-limit', '3s', '--', 'ci\\wait'];
    const ended = await rungate(selftest, { cwd: folder });
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('still running at the limit') });
    // Wine's taskkill has no /t, and ends only cmd.
    if (isWindows) await until(() => sockets.size === 0);
    for (const socket of sockets) socket.destroy();
    server.close();
  });
});

it('the name of a batch file may end in what Windows ignores: no argument becomes a command', async () => {
  for (const name of ['ci\\gate.cmd ', 'ci\\gate.bat.', 'ci\\gate.bat. .']) {
    await rungate(['mock', 'exec', '--', name, ...attacks], { cwd: folder, env });
    expect(existsSync(pwned), name).toBe(false);
  }
});

it('mock exec starts no batch file with an argument that has a line break', async () => {
  for (const attack of ['a\necho x>pwned', 'a"\r\necho x>pwned\r\n']) {
    const ended = await rungate(['mock', 'exec', '--', 'ci\\gate.cmd', attack], { cwd: folder, env });
    expect(ended).toMatchObject({ code: 64, err: expect.stringContaining('with a line break') });
  }
});

it('a file that is neither a program nor a batch file is not opened with the program for its type', async () => {
  writeFileSync(join(folder, 'ci/gate.ps1'), 'exit 1\r\n');
  for (const how of ['mock exec', 'selftest']) {
    const ended = await rungate([...how.split(' '), '--', 'ci\\gate.ps1'], { cwd: folder, env });
    expect(ended).toMatchObject({ code: 64, err: expect.stringContaining('gate.ps1 is not a program') });
  }
});
