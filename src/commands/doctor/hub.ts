import type { RungateError } from '../../errors.ts';
import { hubOpener } from '../../library/open-gate.ts';
import type { Context } from '../context.ts';
import { openOptions } from '../run/hub.ts';
import { type Check, check, failed } from './checks.ts';

const remedy = 'check Redis, and the log of the hub';

/** A hub that cannot be used is a warning, since gates poll by themselves then. @throws ConfigError if its URL is invalid */
export async function checkHub(context: Context): Promise<Check | null> {
  const { clock } = context.io;
  const began = clock.monotonic();
  const problems: RungateError[] = [];
  const openHub = await hubOpener(openOptions(context));
  const hub = await openHub?.((event) => {
    if (event.type === 'hub' && event.error !== null) problems.push(event.error);
  });
  try {
    await hub?.link.watch([], new AbortController().signal);
    const [problem] = problems;
    if (problem !== undefined) return { ...failed('hub', problem), status: 'warn', exitCode: 0 };
    if (hub === undefined) return null;
    const detail = `the hub accepted the token in ${Math.round(clock.monotonic() - began)} ms`;
    if (await hub.isDegraded())
      return check(
        'hub',
        'warn',
        `${detail}, but its Redis does not work: it grants its share of the limits`,
        remedy,
      );
    return check('hub', 'ok', detail);
  } finally {
    await hub?.close();
  }
}
