import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { root } from '../e2e/built.ts';

/** Names of exported objects, with a field that has no doc comment. The field that tells events apart needs none. */
function undocumented(folders: readonly string[]): string[] {
  const entry = join(root, 'src/index.ts');
  const options = {
    allowImportingTsExtensions: true,
    module: ts.ModuleKind.NodeNext,
    strict: true,
    noLib: true,
  };
  const program = ts.createProgram([entry], options);
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(entry);
  const module = file && checker.getSymbolAtLocation(file);
  if (module === undefined) throw new Error(`${entry} is not a module`);
  const isIn = ({ declarations = [] }: ts.Symbol) =>
    declarations.some((one) =>
      folders.some((folder) => one.getSourceFile().fileName.includes(`/src/${folder}`)),
    );
  return checker.getExportsOfModule(module).flatMap((exported) => {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    if ((symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias)) === 0) return [];
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    return (type.isUnion() ? type.types : [type])
      .filter(({ flags }) => flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))
      .flatMap((one) => checker.getPropertiesOfType(one))
      .filter((field) => isIn(field) && field.name !== 'type')
      .filter((field) => field.getDocumentationComment(checker).length === 0)
      .map(({ name }) => `${symbol.name}.${name}`);
  });
}

it('an editor describes each field of requests, responses, options, events, policies and reports', () => {
  const groups = ['orders', 'keys', 'run', 'env', 'observations', 'webhooks'];
  expect(undocumented(['contract/', 'client/', 'gate/', 'library/gate', 'options/'])).toEqual([
    ...groups.map((name) => `ServiceClient.${name}`),
  ]);
});
