import type * as z from 'zod/mini';

type Issue = z.core.$ZodIssue;

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key],
    value,
  );
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function sized(issue: { origin: string; minimum: number | bigint }): string {
  if (issue.origin === 'string') return 'must not be empty';
  if (issue.origin === 'array')
    return `expected at least ${issue.minimum} item${issue.minimum === 1 ? '' : 's'}`;
  return `expected at least ${issue.minimum}`;
}

function what(issue: Issue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type': {
      const received = at(value, issue.path);
      return received === undefined ? 'required' : `expected ${issue.expected}, got ${typeOf(received)}`;
    }
    case 'too_small':
      return sized(issue);
    case 'unrecognized_keys':
      return 'unknown field';
    case 'invalid_format':
      return `expected the format ${issue.format}`;
    default:
      return issue.message;
  }
}

/**
 * What is wrong with a request, each field by its name: `body.tags[0]: must not be empty; body.shop: unknown field`.
 * `where` is the part of the request, `body` or `query`.
 */
export function describeProblems(where: string, value: unknown, issues: readonly Issue[]): string {
  const name = (path: readonly PropertyKey[]) =>
    path.reduce<string>(
      (text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}.${String(key)}`),
      where,
    );
  return issues
    .flatMap((issue) => {
      const paths =
        issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
      return paths.map((path) => `${name(path)}: ${what(issue, value)}`);
    })
    .join('; ');
}
