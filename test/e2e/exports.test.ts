import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { root } from './built.ts';

interface Entry {
  types: string;
  default: string;
}
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, string | (Entry & { node?: string })>;
};
const entries = Object.entries(manifest.exports).flatMap(([path, entry]) =>
  typeof entry === 'string' ? [] : [{ name: `rungate${path.slice(1)}`, ...entry }],
);

const program = ts.createProgram(
  entries.map(({ types }) => join(root, types)),
  { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, types: ['node'] },
);
const checker = program.getTypeChecker();

/** Returns the symbol behind an alias. */
const itself = (symbol: ts.Symbol) =>
  symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;

function exportsOf(types: string): ts.Symbol[] {
  const source = program.getSourceFile(join(root, types));
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${types} is not a module`);
  return checker.getExportsOfModule(module).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function kindOf(symbol: ts.Symbol): string {
  const { flags } = itself(symbol);
  if (flags & ts.SymbolFlags.Class) return 'class';
  if (flags & ts.SymbolFlags.Function) return 'function';
  if (flags & ts.SymbolFlags.Variable) return 'const';
  if (flags & ts.SymbolFlags.Interface) return 'interface';
  if (flags & ts.SymbolFlags.TypeAlias) return 'type';
  return 'something else';
}
const isValue = (symbol: ts.Symbol) => ['class', 'function', 'const'].includes(kindOf(symbol));

describe('the exports of the package', () => {
  it.each(entries)('$name has the same names at run time as in its types', async (entry) => {
    const load = async (file: string) =>
      (await import(pathToFileURL(join(root, file)).href)) as Record<string, unknown>;
    const module = await load(entry.default);
    const values = exportsOf(entry.types).filter(isValue);
    const names = values.map(({ name }) => name);
    expect(Object.keys(module).toSorted()).toEqual(names);
    for (const symbol of values) {
      if (kindOf(symbol) !== 'const') expect(typeof module[symbol.name], symbol.name).toBe('function');
    }
    // In Node, `rungate/webhook` also has synchronous functions, which only the types of `rungate/webhook/node` declare.
    if (entry.node !== undefined)
      expect(Object.keys(await load(entry.node))).toEqual(expect.arrayContaining(names));
  });

  it('share one class of webhook errors', async () => {
    const modules = await Promise.all(
      entries.map((entry) => import(pathToFileURL(join(root, entry.default)).href)),
    );
    const classes = modules.flatMap(({ WebhookVerificationError }) => WebhookVerificationError ?? []);
    expect(classes.length).toBeGreaterThan(6);
    expect(new Set(classes).size).toBe(1);
  });

  it('for webhooks import neither a framework nor the client; fetch and replay import nothing', () => {
    const folder = join(root, 'dist/webhook');
    const imported = (file: string): string[] =>
      [...readFileSync(join(folder, file), 'utf8').matchAll(/(?:from|import)\s*["']([^"']+)["']/g)].flatMap(
        ([, name = '']) => (name.startsWith('./') ? imported(name) : [name]),
      );
    const files = readdirSync(folder).filter((file) => file.endsWith('.js'));
    expect([...new Set(files.flatMap(imported))]).toEqual(['node:crypto']);
    expect([...imported('fetch.js'), ...imported('replay.js')]).toEqual([]);
  });

  it('include every type that they use', () => {
    const exported = new Set(entries.flatMap(({ types }) => exportsOf(types).map(itself)));
    const unnamed = new Set<string>();
    const visit = (node: ts.Node): void => {
      if (ts.isTypeReferenceNode(node) || ts.isExpressionWithTypeArguments(node)) {
        const found = checker.getSymbolAtLocation(
          ts.isTypeReferenceNode(node) ? node.typeName : node.expression,
        );
        const symbol = found && itself(found);
        const file = symbol?.declarations?.[0]?.getSourceFile().fileName ?? '';
        const isRungate = file.startsWith(join(root, 'dist'));
        const parameter = symbol !== undefined && symbol.flags & ts.SymbolFlags.TypeParameter;
        if (symbol !== undefined && isRungate && !parameter && !exported.has(symbol))
          unnamed.add(symbol.name);
      }
      ts.forEachChild(node, visit);
    };
    for (const symbol of exported) for (const declaration of symbol.declarations ?? []) visit(declaration);
    expect([...unnamed]).toEqual([]);
  });

  it('have a doc comment on each function, class and type', () => {
    const undocumented = entries.flatMap(({ name, types }) =>
      exportsOf(types)
        .map(itself)
        .filter((symbol) => symbol.getDocumentationComment(checker).length === 0)
        .map((symbol) => `${name}: ${symbol.name}`),
    );
    expect([...new Set(undocumented)]).toEqual([]);
  });

  it('use no types of other packages except those of the frameworks with receivers', () => {
    const others = program
      .getSourceFiles()
      .filter(({ fileName }) => fileName.startsWith(join(root, 'dist')))
      .flatMap((file) => {
        // Without the comments, whose examples import frameworks.
        const text = readFileSync(file.fileName, 'utf8').replace(/\/\*\*.*?\*\//gs, '');
        return [...text.matchAll(/(?:from|import\() ?['"]([^'".][^'"]*)['"]/g)].map((match) =>
          String(match[1]),
        );
      });
    expect([...new Set(others)].toSorted()).toEqual([]);
  });
});
