import { expect } from 'vitest';

/** Returns the error that a call rejects with. Fails if the call succeeds or the error has another class. */
export async function rejection<E extends Error>(
  call: Promise<unknown>,
  errorClass: abstract new (...args: never[]) => E,
): Promise<E> {
  const error = await call.then(
    (value) => expect.fail(`expected a ${errorClass.name}, but the call succeeded: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof errorClass) return error;
  throw error;
}

/** Returns the error that a function throws. Fails if it throws nothing or an error of another class. */
export function thrown<E extends Error>(
  run: () => unknown,
  errorClass: abstract new (...args: never[]) => E,
): E {
  try {
    run();
  } catch (error) {
    if (error instanceof errorClass) return error;
    throw error;
  }
  return expect.fail(`expected a ${errorClass.name}, but nothing was thrown`);
}
