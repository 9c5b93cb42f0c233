import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { rateLimitLeft } from '../src/client/rate-limit.ts';
import { pathPattern } from '../src/contract/endpoint.ts';

/** The pure JavaScript build: the same result on every platform, without a child process. */
const { checkSync } = createRequire(import.meta.url)('recheck/lib/browser.js') as typeof import('recheck');

const root = fileURLToPath(new URL('../src', import.meta.url));

/** Files whose expressions may take longer, and why that cannot be used against anyone. */
const exceptions: Readonly<Record<string, string>> = {
  'commands/selftest/hints.ts': "reads the user's own script, in lines of at most 1,000 characters",
};

/** Runs the code that builds expressions at run time, for every file that does. */
const builders: Readonly<Record<string, () => unknown>> = {
  'contract/endpoint.ts': () => pathPattern('/api/a/{id}/b/{key}'),
  'client/rate-limit.ts': () => rateLimitLeft({ ratelimit: 'limit=1, remaining=1, reset=1' }, 0),
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

/** The expressions that code builds while it runs. */
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
 * Every limit is a number of steps and none a time, so that the result is the same on a machine with much to do. What takes
 * more than a hundred steps for each character of the longest attack counts as superlinear.
 */
const bySteps = {
  randomSeed: 1,
  timeout: null,
  seedingTimeout: null,
  incubationTimeout: null,
  attackTimeout: null,
  // Negative: no attack is tried out against the clock.
  recallTimeout: -1,
  attackLimit: 2_000_000,
  maxAttackStringSize: 20_000,
  maxNFASize: 1000,
  maxInitialGenerationSize: 100,
  maxGenerationSize: 30,
  maxIteration: 5,
  maxGeneStringSize: 1000,
};

/** Null when the time grows no faster than the input, else what grows and an input that shows it. */
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
    '/\\s+$/',
    '/(a+)+$/',
    '/^(.*?)[ \\t]*$/',
    '/x*y/g',
    '/^(?:[^:]+:)*[^:]+$/m',
    '/-----BEGIN [A-Z ]+-----[\\s\\S]*?-----END/g',
    '/<([^>]+)>;\\s*rel="?next"?/',
  ])('rejects %s, which takes more than linear time', (literal) => {
    expect(superlinear(literal)).toContain(literal);
  });

  test.each(['/^a+b/', '/\\s+/g', '/[a-z]{2,8}/'])('accepts %s', (literal) => {
    expect(superlinear(literal)).toBeNull();
  });

  test('finds expressions wherever they stand, and those that are built', async () => {
    const code = `const a = { b: /x+/g }; // /y/\nf(\`\${/z*/.test(s)}\`); new RegExp(s);`;
    expect(expressionsIn(code)).toEqual({ literals: ['/x+/g', '/z*/'], builds: true });
    const source = 'q+';
    expect(await builtBy(() => new RegExp(source, 'i'))).toEqual(['/q+/i']);
  });
});

describe('the regular expressions in src', () => {
  const literals = [...new Set(sources.flatMap((source) => source.literals))];

  test('are all found', () => {
    expect(literals.length).toBeGreaterThan(100);
  });

  test('take linear time, whatever the input', { timeout: 0 }, () => {
    expect(literals.map(superlinear).filter((found) => found !== null)).toEqual([]);
  });

  test('that are built at run time are all in the list of this test', () => {
    const building = sources.filter(({ builds }) => builds).map(({ file }) => file);
    expect(building.toSorted()).toEqual(Object.keys(builders).toSorted());
  });

  test.each(Object.entries(builders))('built by %s take linear time', async (_file, run) => {
    const built = await builtBy(run);
    expect(built).not.toEqual([]);
    expect(built.map(superlinear).filter((found) => found !== null)).toEqual([]);
  });
});
