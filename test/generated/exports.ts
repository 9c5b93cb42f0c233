import { join } from 'node:path';
import ts from 'typescript';
import { textOf } from '../docs/pages.ts';
import { root } from '../e2e/built.ts';

/** The sources whose names differ from those of their files in the package. */
const sources: Readonly<Record<string, string>> = {
  'webhook/index': 'webhook/web',
  ...Object.fromEntries(
    ['fetch', 'node-http', 'express', 'fastify', 'lambda'].map((name) => [
      `webhook/${name}`,
      `webhook/receivers/${name}`,
    ]),
  ),
};

function kindOf({ flags }: ts.Symbol): string {
  if (flags & ts.SymbolFlags.Class) return 'class';
  if (flags & ts.SymbolFlags.Function) return 'function';
  if (flags & ts.SymbolFlags.Variable) return 'const';
  if (flags & ts.SymbolFlags.Interface) return 'interface';
  if (flags & ts.SymbolFlags.TypeAlias) return 'type';
  return 'something else';
}

/** Returns the list of everything that the package exports. Removing a name or changing its kind needs a major version. */
export function exportsList(): string {
  const { exports } = JSON.parse(textOf('package.json')) as {
    exports: Record<string, string | { types: string }>;
  };
  const entries = Object.entries(exports).flatMap(([path, entry]) => {
    if (typeof entry === 'string') return [];
    const built = entry.types.replace(/^\.\/dist\/|\.d\.ts$/g, '');
    return [{ name: `rungate${path.slice(1)}`, source: join(root, 'src', `${sources[built] ?? built}.ts`) }];
  });
  const program = ts.createProgram(
    entries.map(({ source }) => source),
    { allowImportingTsExtensions: true, moduleResolution: ts.ModuleResolutionKind.Bundler, noLib: true },
  );
  const checker = program.getTypeChecker();
  const itself = (symbol: ts.Symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  return entries
    .map(({ name, source }) => {
      const file = program.getSourceFile(source);
      const module = file && checker.getSymbolAtLocation(file);
      if (module === undefined) throw new Error(`${source} is not a module`);
      const lines = checker
        .getExportsOfModule(module)
        .map((symbol) => `  ${kindOf(itself(symbol))} ${symbol.name}\n`);
      return `${name}\n${lines.toSorted().join('')}`;
    })
    .join('\n');
}
