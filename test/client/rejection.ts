import { expect } from 'vitest';
import { type NameOf, RungateError } from '../../src/errors.ts';
import { nameInCommands } from '../../src/options/spelling.ts';

/** Errors of inner functions name options as the command line does, unless something has named them already. */
const worded = <E extends Error>(error: E, nameOf: NameOf = nameInCommands) =>
  error instanceof RungateError ? error.word(nameOf) : error;

/** Returns the error that a call rejects with. Fails if the call succeeds or the error has another class. */
export async function rejection<E extends Error>(
  call: Promise<unknown>,
  errorClass: abstract new (...args: never[]) => E,
): Promise<E> {
  const error = await call.then(
    (value) => expect.fail(`expected a ${errorClass.name}, but the call succeeded: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof errorClass) return worded(error);
  throw error;
}

/** Returns the error that a function throws. Fails if it throws nothing or an error of another class. */
export function thrown<E extends Error>(
  run: () => unknown,
  errorClass: abstract new (...args: never[]) => E,
  nameOf?: NameOf,
): E {
  try {
    run();
  } catch (error) {
    if (error instanceof errorClass) return worded(error, nameOf);
    throw error;
  }
  return expect.fail(`expected a ${errorClass.name}, but nothing was thrown`);
}
