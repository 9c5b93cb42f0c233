import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import { startMock } from '../../src/mock/server.ts';
import { root, start } from '../e2e/built.ts';
import { folderForFile } from '../folders.ts';

/** A user's project, with the tarball and common tools installed. */
const project = folderForFile();

const tools = [
  'typescript',
  'vitest',
  '@types/node',
  '@types/express',
  'fastify',
  '@redis/client',
  'undici-types',
];

beforeAll(async () => {
  const packed = await start('npm', ['pack', '--pack-destination', project], {}, root).ended;
  if (packed.code !== 0) throw new Error(packed.err);
  const tarball = readdirSync(project).find((file) => file.endsWith('.tgz')) ?? '';
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  const install = ['install', '--offline', '--no-audit', '--no-fund', `./${tarball}`];
  const installed = await start('npm', install, {}, project).ended;
  if (installed.code !== 0) throw new Error(installed.err);
  for (const tool of tools) {
    const link = join(project, 'node_modules', tool);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, 'node_modules', tool), link);
  }
});

/** Returns the compiler's errors in files of the project. */
function compileErrors(files: readonly string[], options: ts.CompilerOptions): string[] {
  const program = ts.createProgram(
    files.map((file) => join(project, file)),
    {
      noEmit: true,
      strict: true,
      target: ts.ScriptTarget.ES2023,
      lib: ['lib.es2023.d.ts'],
      types: ['node'],
      typeRoots: [join(project, 'node_modules/@types')],
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      ...options,
    },
  );
  return ts.getPreEmitDiagnostics(program).map(({ file, start: at = 0, messageText }) => {
    const line = file === undefined ? '' : `${file.getLineAndCharacterOfPosition(at).line + 1}`;
    const name = file?.fileName.replace(project, '') ?? '';
    return `${name}:${line} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}

const resolutions = [
  ['node16', { module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 }],
  ['nodenext', { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext }],
  ['bundler', { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }],
] as const;

/** Uses every entry. The lines with `@ts-expect-error` would compile if one of our types were `any`. */
const consumer = `
import { createClient, gate, startMock, verify, exitCodeOf, HttpError, type GateReport, type Fault, type RunStatus } from 'rungate';
import { verify as webhookVerify } from 'rungate/webhook';
import { signSync } from 'rungate/webhook/node';
import * as fetch from 'rungate/webhook/fetch';
import * as http from 'rungate/webhook/node-http';
import * as lambda from 'rungate/webhook/lambda';
import * as replay from 'rungate/webhook/replay';

const client = createClient({ apiUrl: 'https://a.example', apiKey: undefined });
export const status: Promise<RunStatus> = client.run.status('r');
export const scopes = client.keys.create({ name: 'n', scopes: ['ci:trigger', 'another'] });
export const report: Promise<GateReport> = gate({ apiUrl: 'a', trigger: { projectSlug: 'p', tags: ['t'] } });
export const fault: Fault = { kind: 'status', status: 500, endpoint: 'run.status' };
export const mock = startMock({ outcome: ['passed', 'failed'], faults: [fault] });
export const same: typeof verify = webhookVerify;
export const others = [signSync, fetch, http, lambda, replay, exitCodeOf, HttpError];
const tags: string[] = 'smoke,nightly'.split(',');
void client.run.trigger({ projectSlug: 'p', tags });
void client.observations.attach('p', 'o', { file: Uint8Array.of(1), name: 'a.png', type: 'image/png' });
void client.observations.attach('p', 'o', new Blob(['a']));
const now = await client.run.status('r');
export const failures: number = now.state === 'in_progress' ? 0 : now.failed + now.blocked;
for await (const { key } of client.env.list.all()) key?.toUpperCase();

// @ts-expect-error a path parameter is a string
void client.run.status(7);
// @ts-expect-error no such query
void client.env.list({ pag: 1 });
// @ts-expect-error a process or tags are required
void client.run.trigger({ projectSlug: 'p' });
// @ts-expect-error no such method
void client.runs;
// @ts-expect-error an unknown result never passes
void gate({ apiUrl: 'a', runIds: ['r'], on: { timeout: 'pass' } });
// @ts-expect-error no such outcome
void startMock({ outcome: 'green' });
// @ts-expect-error no such endpoint
export const wrongEndpoint: Fault = { kind: 'html-502', endpoint: 'run.start' };
// @ts-expect-error a total is a number
void client.orders.get('o').then((order) => order.total.toUpperCase());
// @ts-expect-error the report has no such field
void report.then(({ verdict }) => verdict);
// @ts-expect-error secrets are text or bytes
void verify({ body: '', headers: {}, secrets: 7 });
`;

describe.each(resolutions)('with moduleResolution %s', (_name, resolution) => {
  it('the types of every entry compile, including the declarations, and none is any', () => {
    writeFileSync(join(project, 'consumer.ts'), consumer);
    expect(compileErrors(['consumer.ts'], { ...resolution, skipLibCheck: false })).toEqual([]);
  });
});

describe('from CommonJS', () => {
  const imported = `import { createClient, exitCodes, type RunStatus } from 'rungate';
import { verifySync } from 'rungate/webhook/node';
import * as receiver from 'rungate/webhook/express';
export const all: unknown[] = [createClient, exitCodes, verifySync, receiver];
export type Status = RunStatus;
`;
  const later = `export const code = import('rungate').then(({ exitCodes }) => exitCodes.ok);
export type Status = import('rungate', { with: { 'resolution-mode': 'import' } }).RunStatus;
`;
  const [[, node16], [, nodenext]] = resolutions;

  it('a .cts file compiles with nodenext, and with node16 by import()', () => {
    writeFileSync(join(project, 'consumer.cts'), imported);
    writeFileSync(join(project, 'later.cts'), later);
    writeFileSync(join(project, 'consumer.mts'), imported);
    const strict = { skipLibCheck: false, esModuleInterop: true };
    const files = ['consumer.cts', 'later.cts', 'consumer.mts'];
    expect(compileErrors(files, { ...nodenext, ...strict })).toEqual([]);
    expect(compileErrors(['later.cts', 'consumer.mts'], { ...node16, ...strict })).toEqual([]);
    expect(compileErrors(['consumer.cts'], { ...node16, ...strict }).join()).toContain("dynamic 'import");
  });

  // Node supports this since 20.19 and 22.12; `npm run test:matrix` runs older versions.
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const required = major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19);

  it.runIf(required)('require() returns the same module as import, without a warning', async () => {
    const entries = ['rungate', 'rungate/webhook', 'rungate/webhook/express', 'rungate/webhook/replay'];
    const script = entries
      .map((entry) => `import('${entry}').then((m) => console.log(require('${entry}') === m));`)
      .join('');
    const ended = await start(process.execPath, ['--eval', script], {}, project).ended;
    expect(ended).toMatchObject({ code: 0, out: 'true\n'.repeat(entries.length), err: '' });
  });
});

it('the types compile with the types of a browser instead of those of Node', () => {
  writeFileSync(join(project, 'consumer.ts'), consumer);
  const [, [, resolution]] = resolutions;
  const web = { lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'], types: [] };
  expect(compileErrors(['consumer.ts'], { ...resolution, ...web, skipLibCheck: false })).toEqual([]);
});

/** Returns the functions of every public entry, with the code of the `@example` in their doc comments. */
function publicFunctions(): { name: string; entry: string; code: string | undefined }[] {
  const manifest = JSON.parse(readFileSync(join(project, 'node_modules/rungate/package.json'), 'utf8'));
  const entries = Object.entries<{ types?: string }>(manifest.exports).flatMap(([entry, { types }]) =>
    types === undefined
      ? []
      : [{ entry: entry.replace('.', 'rungate'), file: join(project, 'node_modules/rungate', types) }],
  );
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    { ...resolutions[1][1], skipLibCheck: true, types: ['node'] },
  );
  const checker = program.getTypeChecker();
  return entries.flatMap(({ entry, file }) => {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    return checker.getExportsOfModule(module as ts.Symbol).flatMap((exported) => {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      if ((symbol.flags & ts.SymbolFlags.Function) === 0) return [];
      const tag = symbol.getJsDocTags(checker).find(({ name }) => name === 'example');
      const code = /```ts\n(.*?)```/s.exec(ts.displayPartsToString(tag?.text))?.[1];
      return [{ name: exported.name, entry, code }];
    });
  });
}

describe('the doc comments of the public functions', () => {
  it('have an example each, which compiles', () => {
    const all = publicFunctions();
    expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining(['gate', 'receive', 'verifyReceipt']));
    expect(all.filter(({ code }) => code === undefined)).toEqual([]);
    const files = all.map(({ name, entry, code }) => {
      const file = `${entry.replace(/\W/g, '-')}-${name}.ts`;
      writeFileSync(join(project, file), String(code));
      return file;
    });
    const [, [, resolution]] = resolutions;
    expect(compileErrors(files, { ...resolution, skipLibCheck: true, esModuleInterop: true })).toEqual([]);
  });

  it('have examples for the main entry that run against the mock', async () => {
    for (const { name, code } of publicFunctions().filter(({ entry }) => entry === 'rungate')) {
      const mock = await startMock({ duration: 0 });
      const text = String(code).replaceAll('https://service.example.com', mock.url);
      writeFileSync(
        join(project, `${name}.mjs`),
        ts.transpile(text, { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 }),
      );
      const env = { RUNGATE_API_KEY: mock.apiKey, RUNGATE_TOKEN: mock.token };
      const ended = await start(process.execPath, [`${name}.mjs`], env, project).ended;
      await mock.close();
      const expected = Number(/process\.exitCode = .*; \/\/ (\d+)/.exec(text)?.[1] ?? 0);
      expect(ended, name).toMatchObject({ code: expected, err: '' });
      for (const output of expectedOutput(text)) expect(ended.out).toContain(`${output}\n`);
    }
  });
});

/** The examples of the pages, each as a separate module. */
const examples = [
  'docs/reference/library.md',
  'docs/reference/mock.md',
  'docs/reference/webhooks.md',
].flatMap((page) => {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map((match, index) => {
    const before = text.slice(0, match.index);
    const section = [...before.matchAll(/^#+ (.*)$/gm)].at(-1)?.[1] ?? '';
    return { section, name: `${page.replace(/\W/g, '-')}-${index + 1}`, text: String(match[1]) };
  });
});

/** Adds the client that docs/reference/library.md creates once for all examples. */
const withClient = (text: string) =>
  /\bclient\./.test(text) && !/const client\b/.test(text)
    ? `import { createClient } from 'rungate';
const client = createClient({ apiUrl: 'https://service.example.com', apiKey: process.env.RUNGATE_API_KEY, token: process.env.RUNGATE_TOKEN });
${text}
await client.close();
`
    : text;

/** Returns the expected output of an example: the comments after console.log. */
const expectedOutput = (text: string) =>
  [...text.matchAll(/^.*console\.log\(.*\); \/\/ (.*)$/gm)].map((match) => String(match[1]));

const isTest = (text: string) => text.includes("from 'vitest'");

describe('the examples of the pages', () => {
  it('compile', () => {
    const files = examples.map(({ name, text }) => {
      writeFileSync(join(project, `${name}.ts`), withClient(text));
      return `${name}.ts`;
    });
    const [, [, resolution]] = resolutions;
    expect(compileErrors(files, { ...resolution, skipLibCheck: true })).toEqual([]);
  });

  it.each(examples.filter(({ text }) => !isTest(text)))(
    '$name ($section) runs against the mock, and prints the output on the page',
    async ({ name, text }) => {
      const mock = await startMock({ duration: 0 });
      const { outputText } = ts.transpileModule(withClient(text), {
        compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
      });
      // The mock replaces the service of the page.
      writeFileSync(
        join(project, `${name}.mjs`),
        outputText.replaceAll('https://service.example.com', mock.url),
      );
      const env = { RUNGATE_API_KEY: mock.apiKey, RUNGATE_TOKEN: mock.token };
      const ended = await start(process.execPath, [`${name}.mjs`], env, project).ended;
      await mock.close();
      expect(ended).toMatchObject({ code: 0, signal: null });
      expect(ended.out.split('\n').filter((line) => line !== '')).toEqual(expectedOutput(text));
    },
  );
});

describe('a user’s test suite with the mock', () => {
  const copy = (name: string) => copyFileSync(join(root, 'docs/examples', name), join(project, name));

  it('runs in vitest: docs/examples/gate.test.ts and the example on the page', async () => {
    copy('gate.test.ts');
    const onPage = examples.filter(({ text }) => isTest(text));
    for (const { name, text } of onPage) writeFileSync(join(project, `${name}.test.ts`), text);
    // Vitest's own 5 s are too short for a test on a busy machine.
    const args = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=json', '--testTimeout=60000'];
    const ended = await start(process.execPath, [...args, '--root', project], {}, project).ended;
    expect(ended.code, ended.err + ended.out).toBe(0);
    const report = JSON.parse(ended.out) as { numPassedTests: number; testResults: unknown[] };
    expect(report.testResults).toHaveLength(1 + onPage.length);
    expect(onPage).toHaveLength(1);
    expect(report.numPassedTests).toBe(8);
  });

  it("compiles unchanged, and runs in Node's test runner: docs/examples/gate.node-test.mjs", async () => {
    copy('gate.test.ts');
    copy('gate.node-test.mjs');
    const [, [, resolution]] = resolutions;
    expect(compileErrors(['gate.test.ts'], { ...resolution, skipLibCheck: true })).toEqual([]);
    const args = ['--test', '--test-reporter=tap', 'gate.node-test.mjs'];
    const ended = await start(process.execPath, args, {}, project).ended;
    expect(ended.code, ended.out).toBe(0);
    expect(ended.out).toMatch(/^# pass 2$/m);
  });
});
