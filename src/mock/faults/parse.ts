import { api } from '../../contract/index.ts';
import { run } from '../../contract/run.ts';
import { parseDuration, readDuration } from '../../duration.ts';
import { UsageError } from '../../errors.ts';
import { echoed, instead } from '../../suggest.ts';
import type { EventType } from '../data/webhooks.ts';
import { versionTarget } from '../version-page.ts';
import { isDeliveryKind } from './delivery-kinds.ts';
import {
  eventsOf,
  type Fault,
  type FaultKind,
  type FaultTarget,
  type FaultWhen,
  faultRows,
  rowOf,
} from './faults.ts';

const kinds = Object.keys(faultRows) as FaultKind[];

/** The kinds that need no parameters: first those of requests, then those of deliveries. */
export const faultNames: readonly FaultKind[] = kinds.filter((kind) => !rowOf(kind).unnamed);

function faultNamed(name: string): Fault {
  if (/^[2-5]\d\d$/.test(name)) return { kind: 'status', status: Number(name) };
  if (faultNames.some((kind) => kind === name)) return { kind: name } as Fault;
  const otherwise = `use a status code such as 503, or one of ${faultNames.join(', ')}`;
  throw new UsageError(`unknown fault ${echoed(name)}`, { hint: instead(name, faultNames, otherwise) });
}

/** Short names of the endpoints of a run: their last part, and `create`. */
export const shortTargets: ReadonlyMap<string, string> = new Map([
  ['create', 'run.trigger'],
  ...Object.keys(run).map((name) => [name.slice('run.'.length), name] as const),
]);

/** Returns what a kind can affect: the names of events for faults of deliveries, otherwise those of endpoints. */
function targetsOf(kind: FaultKind): readonly string[] {
  return isDeliveryKind(kind) ? eventsOf(kind) : [...Object.keys(api), versionTarget];
}

/** Returns the condition that limits a fault to one endpoint or event. @throws UsageError for an unknown one */
export function targetOf(kind: FaultKind, name: string): FaultWhen {
  const targets = targetsOf(kind);
  const isEvent = isDeliveryKind(kind);
  if (isEvent && targets.includes(name)) return { event: name as EventType };
  const endpoint = shortTargets.get(name) ?? name;
  if (!isEvent && targets.includes(endpoint)) return { endpoint: endpoint as FaultTarget };
  const message = isEvent ? `the fault ${kind} affects no event` : 'unknown endpoint';
  throw new UsageError(`${message} ${echoed(name)}`, { hint: instead(name, targets) });
}

function durationOf(kind: FaultKind, text: string): Record<string, number> {
  const parameter = rowOf(kind).duration;
  const ms = parseDuration(`--fault ${kind}`, text);
  if (parameter !== undefined) return { [parameter]: ms };
  const others = kinds.filter((other) => rowOf(other).duration !== undefined);
  const hint = `leave out =${text}; ${others.join(', ')} have a duration`;
  throw new UsageError(`--fault ${kind}: this fault has no duration`, { hint });
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
 * Parses a fault as `--fault` takes it: `kind[=duration][@endpoint or event][:when]`, for example
 * `html-502@run.status:2-4` or `delay=30s@run.completed:10%`.
 * @throws UsageError
 */
export function parseFault(text: string): Fault {
  const [, name = '', duration, target, when] =
    /^([^=@:]*)(?:=([^@:]*))?(?:@([^:]*))?(?::(.*))?$/.exec(text) ?? [];
  const fault = faultNamed(name);
  const condition = when === undefined ? {} : whenOf(when);
  if (condition === null) {
    throw new UsageError(`--fault ${name}: "${when}" is not a valid condition`, {
      hint: 'use the number of a request (3), a range (2-5), all, a probability (20%) or a time window (5s-10s)',
    });
  }
  return {
    ...fault,
    ...(duration === undefined ? {} : durationOf(fault.kind, duration)),
    ...(target === undefined ? {} : targetOf(fault.kind, target)),
    ...condition,
  } as Fault;
}
