import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { pathPattern } from '../../src/contract/endpoint.ts';
import { redactor } from '../../src/redact.ts';

/** The pure JavaScript build, which has the same result on every platform and needs no child process. */
const { checkSync } = createRequire(import.meta.url)('recheck/lib/browser.js') as typeof import('recheck');

const root = fileURLToPath(new URL('../../src', import.meta.url));

/** Files whose expressions may take longer than linear time, and why that is safe. */
const exceptions: Readonly<Record<string, string>> = {
  'commands/selftest/hints.ts': "reads the user's own script, in lines of at most 1,000 characters",
};

/** Runs the code that builds expressions at run time, by file. */
const builders: Readonly<Record<string, () => unknown>> = {
  'contract/endpoint.ts': () => pathPattern('/api/a/{id}/b/{key}'),
  'redact.ts': () => redactor(['pa$$ "word" & more', 'short']),
};

interface Found {
  literals: string[];
  builds: boolean;
}

function expressionsIn(code: string): Found {
  const found: Found = { literals: [], builds: false };
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) found.literals.push(node.text);
    const called = ts.isNewExpression(node) || ts.isCallExpression(node) ? node.expression : undefined;
    if (called !== undefined && ts.isIdentifier(called) && called.text === 'RegExp') found.builds = true;
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('code.ts', code, ts.ScriptTarget.Latest, true));
  return found;
}

const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join(root, name))
  .map((path) => ({
    file: relative(root, path).replaceAll('\\', '/'),
    ...expressionsIn(readFileSync(path, 'utf8')),
  }))
  .filter(({ file }) => !Object.hasOwn(exceptions, file));

/** Returns the expressions that are built during a call. */
async function builtBy(run: () => unknown): Promise<string[]> {
  const seen: string[] = [];
  const original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(original, {
    construct(target, args, newTarget) {
      const made = Reflect.construct(target, args, newTarget);
      seen.push(String(made));
      return made;
    },
  });
  try {
    await run();
  } finally {
    globalThis.RegExp = original;
  }
  return seen;
}

/**
 * All limits are numbers of steps, not times, so that the result does not depend on the load of the machine. More than
 * 100 steps for each character of the longest attack counts as superlinear.
 */
const bySteps = {
  randomSeed: 1,
  timeout: null,
  seedingTimeout: null,
  incubationTimeout: null,
  attackTimeout: null,
  // A negative value turns off the validation of attacks by time.
  recallTimeout: -1,
  attackLimit: 2_000_000,
  maxAttackStringSize: 20_000,
  maxNFASize: 1000,
  maxInitialGenerationSize: 100,
  maxGenerationSize: 30,
  maxIteration: 5,
  maxGeneStringSize: 1000,
};

/** Returns null if the expression takes linear time, else its complexity and an attack. */
function superlinear(literal: string): string | null {
  const end = literal.lastIndexOf('/');
  const source = literal.slice(1, end);
  // Without an unbounded quantifier, the number of steps at each position has a fixed limit.
  if (!/[*+]|,\}/.test(source)) return null;
  const found = checkSync(source, literal.slice(end + 1), bySteps);
  if (found.status === 'safe') return null;
  if (found.status === 'unknown') return `${literal}: could not be checked (${found.error.kind})`;
  return `${literal}: ${found.complexity.summary}, for example ${found.attack.pattern}`;
}

describe('the check', () => {
  test.each([
    '/<title[^>]*>([^<]*)/i',
    '/(a+)+$/',
    '/^(.*?)[ \\t]*$/',
    '/-----BEGIN [A-Z ]+-----[\\s\\S]*?-----END/g',
  ])('rejects %s, which takes more than linear time', (literal) => {
    expect(superlinear(literal)).toContain(literal);
  });

  test.each(['/^a+b/', '/\\s+/g', '/[a-z]{2,8}/'])('accepts %s', (literal) => {
    expect(superlinear(literal)).toBeNull();
  });

  test('finds expressions anywhere in the code, and those built at run time', async () => {
    const code = `const a = { b: /x+/g }; // /y/\nf(\`\${/z*/.test(s)}\`); new RegExp(s);`;
    expect(expressionsIn(code)).toEqual({ literals: ['/x+/g', '/z*/'], builds: true });
    const source = 'q+';
    expect(await builtBy(() => new RegExp(source, 'i'))).toEqual(['/q+/i']);
  });
});

describe('the regular expressions in src', () => {
  const literals = [...new Set(sources.flatMap((source) => source.literals))];

  test('are found', () => {
    expect(literals).not.toEqual([]);
  });

  test('take linear time for any input', () => {
    expect(literals.map(superlinear).filter((found) => found !== null)).toEqual([]);
  });

  test('that are built at run time are listed in this test', () => {
    const building = sources.filter(({ builds }) => builds).map(({ file }) => file);
    expect(building.toSorted()).toEqual(Object.keys(builders).toSorted());
  });

  test.each(Object.entries(builders))('built by %s take linear time', async (_file, run) => {
    const built = await builtBy(run);
    expect(built).not.toEqual([]);
    expect(built.map(superlinear).filter((found) => found !== null)).toEqual([]);
  });
});
