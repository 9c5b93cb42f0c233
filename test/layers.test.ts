import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

interface Layer {
  name: string;
  /** Imports point to lower ranks, or stay within the layer. */
  rank: number;
  /** Files by name, folders by a name that ends in a slash; below src. */
  holds: readonly string[];
  /** Where the layer may import from only a part of what its rank allows. */
  only?: readonly string[];
}

const layers: readonly Layer[] = [
  {
    name: 'leaf',
    rank: 0,
    holds: [
      'collected-bytes.ts',
      'errors.ts',
      'clock.ts',
      'conceal.ts',
      'duration.ts',
      'exit.ts',
      'own-options.ts',
      'sanitize.ts',
      'suggest.ts',
      'version.ts',
    ],
  },
  { name: 'contract', rank: 1, holds: ['contract/'] },
  { name: 'webhook', rank: 1, holds: ['webhook/'], only: ['collected-bytes.ts', 'own-options.ts'] },
  { name: 'http', rank: 2, holds: ['http/'] },
  { name: 'mock', rank: 2, holds: ['mock/'] },
  { name: 'gate', rank: 3, holds: ['gate/'] },
  { name: 'money', rank: 3, holds: ['money/'], only: ['errors.ts'] },
  {
    name: 'ci',
    rank: 4,
    holds: ['ci/'],
    only: [
      'errors.ts',
      'exit.ts',
      'duration.ts',
      'clock.ts',
      'conceal.ts',
      'sanitize.ts',
      'gate/report.ts',
      'gate/verdict.ts',
      'gate/policy.ts',
      'gate/start.ts',
    ],
  },
  {
    name: 'settings',
    rank: 4,
    holds: ['settings.ts', 'settings/'],
    only: ['errors.ts', 'duration.ts', 'suggest.ts', 'gate/policy.ts', 'gate/verdict.ts', 'http/address.ts'],
  },
  {
    name: 'output',
    rank: 4,
    holds: ['output/'],
    only: ['errors.ts', 'clock.ts', 'collected-bytes.ts', 'conceal.ts', 'duration.ts', 'sanitize.ts'],
  },
  { name: 'commands', rank: 5, holds: ['commands/'] },
  { name: 'library', rank: 5, holds: ['library/'] },
  {
    name: 'entry',
    rank: 6,
    holds: ['cli.ts', 'index.ts', 'action.ts', 'action-inputs.ts', 'action-toolkit.ts'],
  },
];

/** Who alone may name what. */
const processFiles: readonly string[] = [
  // The io module: what is passed in everywhere else.
  'output/io.ts',
  'output/lineage.ts',
  'output/stop-signals.ts',
  'output/moments.ts',
  'output/children.ts',
  'output/process-group.ts',
  'output/temporary-folder.ts',
  'output/stdin.ts',
  'output/unused-name.ts',
];
/** Who speaks HTTP to the service: over Node's own client, which is there at once and weighs nothing. */
const wireFiles: readonly string[] = ['http/connections.ts', 'http/hop.ts', 'http/tunnel.ts'];

/** Imports of types that close a circle, known and without effect at run time: to be broken up, not added to. */
const typeCircles: readonly string[] = [];

type Kind = 'static' | 'type' | 'dynamic';

interface Import {
  specifier: string;
  kind: Kind;
}

interface SourceFile {
  /** Below src, with slashes: `gate/poll.ts`. */
  path: string;
  imports: readonly Import[];
  touchesProcess: boolean;
}

const src = fileURLToPath(new URL('../src/', import.meta.url));

/** Only `import type` is gone at run time: of `import { type A } from` the import itself stays. */
function kindOf(node: ts.ImportDeclaration | ts.ExportDeclaration): Kind {
  if (ts.isExportDeclaration(node)) return node.isTypeOnly ? 'type' : 'static';
  return node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword ? 'type' : 'static';
}

/** `process.x`, `process[x]` and `globalThis.process`, as code: a comment or a property of that name is none. */
function isProcess(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) {
    if (ts.isIdentifier(node.expression) && node.expression.text === 'process') return true;
  }
  return ts.isPropertyAccessExpression(node) && node.getText() === 'globalThis.process';
}

function readSource(path: string, text = readFileSync(join(src, path), 'utf8')): SourceFile {
  const imports: Import[] = [];
  let touchesProcess = false;
  const visit = (node: ts.Node): void => {
    touchesProcess ||= isProcess(node);
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      const specifier = node.moduleSpecifier;
      if (specifier !== undefined && ts.isStringLiteral(specifier)) {
        imports.push({ specifier: specifier.text, kind: kindOf(node) });
      }
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [specifier] = node.arguments;
      const literal = specifier !== undefined && ts.isStringLiteralLike(specifier);
      imports.push({
        specifier: literal ? specifier.text : `not a literal: ${specifier?.getText()}`,
        kind: 'dynamic',
      });
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      const { literal } = node.argument;
      if (ts.isStringLiteral(literal)) imports.push({ specifier: literal.text, kind: 'type' });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return { path, imports, touchesProcess };
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .map((path) => path.split(sep).join('/'))
  .filter((path) => path.endsWith('.ts'))
  .toSorted()
  .map((path) => readSource(path));

const isLocal = (specifier: string) => specifier.startsWith('.');
const target = (from: string, specifier: string) =>
  relative(src, join(src, dirname(from), specifier))
    .split(sep)
    .join('/');
const layerOf = (path: string) =>
  layers.find((layer) =>
    layer.holds.some((place) => (place.endsWith('/') ? path.startsWith(place) : path === place)),
  );

/** Why an import is against the direction; null when it is not. */
function objection(from: string, to: string): string | null {
  const [here, there] = [layerOf(from), layerOf(to)];
  if (here === undefined || there === undefined) return `${from} → ${to}: one of them is in no layer`;
  if (here === there) return null;
  if (there.rank >= here.rank) return `${from} → ${to}: ${here.name} must not know ${there.name}`;
  if (here.only !== undefined && !here.only.includes(to))
    return `${from} → ${to}: ${here.name} may use ${here.only} only`;
  return null;
}

/** The first cycle there is, as a path that ends where it begins; null without one. */
function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] | null {
  const done = new Set<string>();
  const walk = (node: string, path: readonly string[]): string[] | null => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return null;
    for (const next of graph.get(node) ?? []) {
      const cycle = walk(next, [...path, node]);
      if (cycle !== null) return cycle;
    }
    done.add(node);
    return null;
  };
  for (const node of graph.keys()) {
    const cycle = walk(node, []);
    if (cycle !== null) return cycle;
  }
  return null;
}

function graphOf(kinds: readonly Kind[]): Map<string, string[]> {
  return new Map(
    files.map(({ path, imports }) => [
      path,
      imports
        .filter((one) => isLocal(one.specifier) && kinds.includes(one.kind))
        .map((one) => target(path, one.specifier)),
    ]),
  );
}

describe('the sources', () => {
  test('are found, and each has its place in one layer', () => {
    expect(files.length).toBeGreaterThan(50);
    expect(files.filter((file) => layerOf(file.path) === undefined).map((file) => file.path)).toEqual([]);
  });

  test('import only files that are there, by names that can be read', () => {
    const known = new Set(files.map((file) => file.path));
    // What is read as text need not be a source: the parts of the mock's page.
    const isThere = (path: string) =>
      path.endsWith('?raw') ? existsSync(join(src, path.replace(/\?raw$/, ''))) : known.has(path);
    const unknown = files.flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier }) =>
          isLocal(specifier) ? !isThere(target(path, specifier)) : specifier.startsWith('not a '),
        )
        .map(({ specifier }) => `${path}: ${specifier}`),
    );
    expect(unknown).toEqual([]);
  });

  test.each(files.map((file) => [file.path, file] as const))(
    '%s imports in the one direction',
    (path, { imports }) => {
      const objections = imports.flatMap(({ specifier }) =>
        isLocal(specifier) ? (objection(path, target(path, specifier)) ?? []) : [],
      );
      expect(objections).toEqual([]);
    },
  );

  test('import one another without a cycle at run time', () =>
    expect(findCycle(graphOf(['static']))).toBeNull());

  test('import one another without a cycle of types either, but for those that are known', () => {
    const graph = graphOf(['static', 'type']);
    for (const [from, targets] of graph) {
      graph.set(
        from,
        targets.filter((to) => !typeCircles.includes(`${from} → ${to}`)),
      );
    }
    expect(findCycle(graph)).toBeNull();
  });

  test('touch the process in one place only', () => {
    const touching = files.filter(
      ({ touchesProcess, imports }) =>
        touchesProcess || imports.some(({ specifier }) => ['node:process', 'process'].includes(specifier)),
    );
    expect(touching.map((file) => file.path).filter((path) => !processFiles.includes(path))).toEqual([]);
  });

  test('open connections to the service in one place only, over what Node brings', () => {
    const inHttp = files.filter(({ path }) => path.startsWith('http/'));
    const naming = (files: typeof inHttp, clients: RegExp) =>
      files
        .filter(({ imports }) => imports.some(({ specifier }) => clients.test(specifier)))
        .map(({ path }) => path);
    expect(naming(inHttp, /^node:https?$/).sort()).toEqual(wireFiles);
    expect(naming(files, /^undici($|[/-])/)).toEqual([]);
  });
});

describe('this check sees', () => {
  test('every way to import', () => {
    const text = `
      import a from './a.ts';
      import { type B } from './b.ts';
      import type { C } from './c.ts';
      import { type D, d } from './d.ts';
      import './e.ts';
      export * from './f.ts';
      export type { G } from './g.ts';
      const h = await import('./h.ts');
      type I = import('./i.ts').I;
      // import j from './j.ts';
      const k = "import k from './k.ts'";
    `;
    expect(readSource('x.ts', text).imports).toEqual([
      { specifier: './a.ts', kind: 'static' },
      { specifier: './b.ts', kind: 'static' },
      { specifier: './c.ts', kind: 'type' },
      { specifier: './d.ts', kind: 'static' },
      { specifier: './e.ts', kind: 'static' },
      { specifier: './f.ts', kind: 'static' },
      { specifier: './g.ts', kind: 'type' },
      { specifier: './h.ts', kind: 'dynamic' },
      { specifier: './i.ts', kind: 'type' },
    ]);
  });

  test.each([
    ['process.exit(1)', true],
    ["process['env']", true],
    ['globalThis.process', true],
    ['settings.process.value', false],
    ["'process.exit'; // process.exit", false],
    ['const process = 1; f(process)', false],
  ])('in %j a use of the process: %j', (text, touches) => {
    expect(readSource('x.ts', text).touchesProcess).toBe(touches);
  });

  test.each([
    ['gate/poll.ts', 'commands/run.ts', true],
    ['http/call.ts', 'mock/server.ts', true],
    ['mock/server.ts', 'http/call.ts', true],
    ['contract/run.ts', 'http/call.ts', true],
    ['errors.ts', 'contract/run.ts', true],
    ['output/io.ts', 'exit.ts', true],
    ['output/io.ts', 'settings.ts', true],
    ['settings.ts', 'gate/wait.ts', true],
    ['commands/run.ts', 'cli.ts', true],
    ['stray.ts', 'errors.ts', true],
    ['commands/run.ts', 'gate/gate.ts', false],
    ['gate/report.ts', 'exit.ts', false],
    ['exit.ts', 'errors.ts', false],
    ['cli.ts', 'commands/program.ts', false],
  ])('whether %s → %s is against the direction', (from, to, against) => {
    expect(objection(from, to) !== null).toBe(against);
  });

  test('a cycle', () => {
    const graph = new Map([
      ['a', ['b']],
      ['b', ['c', 'd']],
      ['c', []],
      ['d', ['b']],
    ]);
    expect(findCycle(graph)).toEqual(['b', 'd', 'b']);
    expect(
      findCycle(
        new Map([
          ['a', ['b']],
          ['b', []],
        ]),
      ),
    ).toBeNull();
  });
});
