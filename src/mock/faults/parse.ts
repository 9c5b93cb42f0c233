import { api, type EndpointName } from '../../contract/index.ts';
import { readDuration } from '../../duration.ts';
import { UsageError } from '../../errors.ts';
import { echoed, instead, nearest } from '../../suggest.ts';
import type { Fault, FaultWhen } from './faults.ts';
import { faultKinds, kindsWithParts } from './kinds.ts';

/** The kinds that a name alone says all of. */
export const faultNames: readonly string[] = Object.keys(faultKinds).filter(
  (kind) => !(kindsWithParts as readonly string[]).includes(kind),
);

function kindOf(word: string): Fault {
  if (/^[2-5]\d\d$/.test(word)) return { kind: 'status', status: Number(word) };
  if (faultNames.includes(word)) return { kind: word } as Fault;
  const near = nearest(word, faultNames);
  throw new UsageError(`there is no fault ${echoed(word)}`, {
    hint:
      near === null
        ? `write a status such as 503, or one of ${faultNames.join(', ')}`
        : `did you mean ${near}?`,
  });
}

export function endpointOf(word: string): EndpointName {
  if (Object.hasOwn(api, word)) return word as EndpointName;
  throw new UsageError(`there is no endpoint ${echoed(word)}`, { hint: instead(word, Object.keys(api)) });
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
 * A fault as `--fault` takes it: `kind[@endpoint][:when]`, for example `html-502@run.status:2-4`.
 * @throws UsageError
 */
export function parseFault(text: string): Fault {
  const [, word = '', endpoint, when] = /^([^@:]*)(?:@([^:]*))?(?::(.*))?$/.exec(text) ?? [];
  const fault = kindOf(word);
  const at = endpoint === undefined ? {} : { endpoint: endpointOf(endpoint) };
  const due = when === undefined ? {} : whenOf(when);
  if (due === null) {
    throw new UsageError(`--fault ${word}: "${when}" does not say when`, {
      hint: 'the nth call (3), calls (2-5), all, a probability (20%) or a window of time (5s-10s)',
    });
  }
  return { ...fault, ...at, ...due };
}
