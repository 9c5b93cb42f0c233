import { api, type EndpointName } from '../../contract/index.ts';
import { readDuration } from '../../duration.ts';
import { UsageError } from '../../errors.ts';
import { echoed, instead, nearest } from '../../suggest.ts';
import { faultKinds, kindsWithParameters } from './fault-kinds.ts';
import type { Fault, FaultWhen } from './faults.ts';

/** The kinds that need no parameters. */
export const faultNames: readonly string[] = Object.keys(faultKinds).filter(
  (kind) => !(kindsWithParameters as readonly string[]).includes(kind),
);

function kindOf(name: string): Fault {
  if (/^[2-5]\d\d$/.test(name)) return { kind: 'status', status: Number(name) };
  if (faultNames.includes(name)) return { kind: name } as Fault;
  const near = nearest(name, faultNames);
  throw new UsageError(`unknown fault ${echoed(name)}`, {
    hint:
      near === null
        ? `use a status code such as 503, or one of ${faultNames.join(', ')}`
        : `did you mean ${near}?`,
  });
}

export function endpointOf(name: string): EndpointName {
  if (Object.hasOwn(api, name)) return name as EndpointName;
  throw new UsageError(`unknown endpoint ${echoed(name)}`, { hint: instead(name, Object.keys(api)) });
}

/** `3`, `2-5`, `2-`, `all`, `20%`, `5s-10s`. */
function whenOf(text: string): FaultWhen | null {
  if (text === 'all') return { times: Number.POSITIVE_INFINITY };
  const calls = /^([1-9]\d*)(?:(-)([1-9]\d*)?)?$/.exec(text);
  if (calls !== null) {
    const from = Number(calls[1]);
    const to = calls[2] === undefined ? from : Number(calls[3] ?? Number.POSITIVE_INFINITY);
    return to < from ? null : { skip: from - 1, times: to - from + 1 };
  }
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text);
  if (percent !== null) {
    const chance = Number(percent[1]) / 100;
    return chance > 1 ? null : { chance, times: Number.POSITIVE_INFINITY };
  }
  const [from, to, ...rest] = text.split('-').map((part) => readDuration(part));
  if (from == null || to == null || rest.length > 0 || to <= from) return null;
  return { fromMs: from, untilMs: to, times: Number.POSITIVE_INFINITY };
}

/**
 * Parses a fault as `--fault` takes it: `kind[@endpoint][:when]`, for example `html-502@run.status:2-4`.
 * @throws UsageError
 */
export function parseFault(text: string): Fault {
  const [, name = '', endpoint, when] = /^([^@:]*)(?:@([^:]*))?(?::(.*))?$/.exec(text) ?? [];
  const fault = kindOf(name);
  const at = endpoint === undefined ? {} : { endpoint: endpointOf(endpoint) };
  const condition = when === undefined ? {} : whenOf(when);
  if (condition === null) {
    throw new UsageError(`--fault ${name}: "${when}" is not a valid condition`, {
      hint: 'use the number of a request (3), a range (2-5), all, a probability (20%) or a time window (5s-10s)',
    });
  }
  return { ...fault, ...at, ...condition };
}
