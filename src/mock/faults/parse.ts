import * as z from 'zod/mini';
import { api } from '../../contract/index.ts';
import { run } from '../../contract/run.ts';
import { parseDuration, readDuration } from '../../duration.ts';
import { UsageError } from '../../errors.ts';
import { echoed, instead } from '../../suggest.ts';
import { versionTarget } from '../version-page.ts';
import type { Fault, FaultWhen } from './faults.ts';
import { eventsOf, type FaultKind, faultKinds, isDeliveryKind, rowOf } from './kinds.ts';

/** The kinds that need no parameters: first those of requests, then those of deliveries. */
export const faultNames: readonly FaultKind[] = faultKinds.filter((kind) => !rowOf(kind).unnamed);

/** Short names of the endpoints of a run: their last part, and `create`. */
export const shortTargets: ReadonlyMap<string, string> = new Map([
  ['create', 'run.trigger'],
  ...Object.keys(run).map((name) => [name.slice('run.'.length), name] as const),
]);

/** Returns the condition that limits a fault to one endpoint or event. @throws UsageError for an unknown one */
function targetOf(kind: FaultKind, name: string): FaultWhen {
  const isEvent = isDeliveryKind(kind);
  const targets = isEvent ? eventsOf(kind) : [...Object.keys(api), versionTarget];
  const target = isEvent ? name : (shortTargets.get(name) ?? name);
  if (targets.includes(target)) return { [isEvent ? 'event' : 'endpoint']: target };
  const message = isEvent ? `the fault ${kind} affects no event` : 'unknown endpoint';
  throw new UsageError(`${message} ${echoed(name)}`, { hint: instead(name, targets) });
}

const whole = z.int().check(z.nonnegative());

/** The fields of a fault besides `times`. Every kind may have every parameter. */
export const faultFields = {
  kind: z.enum(faultKinds),
  endpoint: z.optional(z.string()),
  event: z.optional(z.string()),
  skip: z.optional(whole),
  chance: z.optional(z.number().check(z.minimum(0), z.maximum(1))),
  fromMs: z.optional(whole),
  untilMs: z.optional(whole),
  status: z.optional(z.int().check(z.minimum(200), z.maximum(599))),
  body: z.optional(z.unknown()),
  headers: z.optional(z.record(z.string(), z.string())),
  text: z.optional(z.string()),
  contentType: z.optional(z.string()),
  merge: z.optional(z.record(z.string(), z.unknown())),
  remove: z.optional(z.array(z.string())),
  forMs: z.optional(whole),
  everyMs: z.optional(whole),
  byMs: z.optional(z.int()),
  seconds: z.optional(z.number()),
};

/** @throws UsageError if a parameter is missing, or the kind cannot affect its target */
export function checkFault(
  fault: { [Name in keyof typeof faultFields]?: unknown } & { kind: FaultKind },
  where: string,
): Fault {
  const { kind, endpoint, event } = fault;
  const missing = rowOf(kind).requires;
  if (missing !== undefined && fault[missing] === undefined)
    throw new UsageError(`${where}.${missing}: required`);
  const target = isDeliveryKind(kind) ? event : endpoint;
  return { ...fault, ...(target !== undefined && targetOf(kind, String(target))) } as Fault;
}

function faultNamed(name: string): Fault {
  if (/^[2-5]\d\d$/.test(name)) return { kind: 'status', status: Number(name) };
  if (faultNames.some((kind) => kind === name)) return { kind: name } as Fault;
  const otherwise = `use a status code such as 503, or one of ${faultNames.join(', ')}`;
  throw new UsageError(`unknown fault ${echoed(name)}`, { hint: instead(name, faultNames, otherwise) });
}

function durationOf(kind: FaultKind, text: string): Record<string, number> {
  const parameter = rowOf(kind).duration;
  const ms = parseDuration(`--fault ${kind}`, text);
  if (parameter !== undefined) return { [parameter]: ms };
  const others = faultKinds.filter((other) => rowOf(other).duration !== undefined);
  const hint = `leave out =${text}; ${others.join(', ')} have a duration`;
  throw new UsageError(`--fault ${kind}: this fault has no duration`, { hint });
}

const all = Number.POSITIVE_INFINITY;

/** `3`, `2-5`, `2-`, `all`, `20%`, `5s-10s`; null for anything else. */
function whenOf(text: string): FaultWhen | null {
  if (text === 'all') return { times: all };
  const [, first, range, last] = /^([1-9]\d*)(?:(-)([1-9]\d*)?)?$/.exec(text) ?? [];
  if (first !== undefined) {
    const from = Number(first);
    const to = range === undefined ? from : Number(last ?? all);
    return to < from ? null : { skip: from - 1, times: to - from + 1 };
  }
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)?.[1];
  if (percent !== undefined)
    return Number(percent) > 100 ? null : { chance: Number(percent) / 100, times: all };
  const [fromMs, untilMs, ...rest] = text.split('-').map((part) => readDuration(part));
  if (fromMs == null || untilMs == null || rest.length > 0 || untilMs <= fromMs) return null;
  return { fromMs, untilMs, times: all };
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
