import { expect } from 'vitest';

/** The error that the call ends with, as one of the class; fails when there is none or another. */
export async function rejection<E extends Error>(
  call: Promise<unknown>,
  kind: abstract new (...args: never[]) => E,
): Promise<E> {
  const error = await call.then(
    (value) => expect.fail(`expected a ${kind.name}, and the call succeeded: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof kind) return error;
  throw error;
}

/** The error that a function throws, as one of the class. */
export function thrown<E extends Error>(act: () => unknown, kind: abstract new (...args: never[]) => E): E {
  try {
    act();
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
  return expect.fail(`expected a ${kind.name}, and nothing was thrown`);
}
