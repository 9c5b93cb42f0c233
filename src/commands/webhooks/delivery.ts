import { UsageError } from '../../errors.ts';
import type { Settings } from '../../settings/index.ts';
import { defaultHeaderNames, type HeaderNames } from '../../webhook/headers.ts';
import type { Context } from '../context.ts';
import { filled } from '../global-options.ts';
import { readCapture } from './capture.ts';
import { type HeaderPairs, parseHeadersFile } from './headers.ts';
import { readInput, streamInput } from './input.ts';
import { headerNamesOf } from './secrets.ts';

export interface DeliveryFlags {
  bodyFile?: string;
  timestamp?: string;
  signature?: string;
  headersFile?: string;
  requestFile?: string;
}

/** A delivery as it was kept: its headers, and its body as it comes. */
export interface Delivery {
  headers: HeaderPairs;
  names: HeaderNames;
  body: AsyncIterable<Uint8Array>;
}

const ways =
  'give --timestamp <t> and --signature <s>, or --headers-file <file>, or --request-file <file> with headers and body';

function namesOf(settings: Settings): HeaderNames {
  return { ...defaultHeaderNames, ...headerNamesOf(settings) };
}

function exclude(one: string, other: string, hint: string): never {
  throw new UsageError(`${one} and ${other} exclude each other`, { hint });
}

/** Exactly one way to give the headers. */
function checkWays(flags: DeliveryFlags): void {
  const { timestamp, signature, headersFile, requestFile, bodyFile } = flags;
  const byFlag = timestamp !== undefined || signature !== undefined;
  const flag = timestamp === undefined ? '--signature' : '--timestamp';
  if (headersFile !== undefined && requestFile !== undefined)
    exclude('--headers-file', '--request-file', ways);
  if (byFlag && headersFile !== undefined) exclude(flag, '--headers-file', ways);
  if (byFlag && requestFile !== undefined) exclude(flag, '--request-file', ways);
  if (bodyFile !== undefined && requestFile !== undefined) {
    exclude('--body-file', '--request-file', 'a captured request has its body in it');
  }
  if (!byFlag && headersFile === undefined && requestFile === undefined) {
    throw new UsageError('nothing says what the headers of the delivery were', { hint: ways });
  }
  if (byFlag && timestamp === undefined) {
    throw new UsageError('--signature alone is not enough: the timestamp is signed too', {
      hint: 'give --timestamp <t> with it, exactly as it was in the header',
    });
  }
  if (byFlag && signature === undefined) {
    throw new UsageError('--timestamp alone is not enough', {
      hint: 'give --signature <s> with it: sha256= and 64 hex digits',
    });
  }
  if (headersFile === '-' && (bodyFile === undefined || bodyFile === '-')) {
    throw new UsageError('headers and body cannot both come from standard input', {
      hint: 'give --body-file <file>, or a whole request with --request-file -',
    });
  }
}

/**
 * The delivery that the flags name. Its body is read when it is asked for, not before.
 * @throws UsageError when the flags do not name exactly one, or its headers cannot be read
 */
export async function deliveryOf(
  { io, settings }: Context,
  flags: DeliveryFlags,
  remark: (line: string) => void,
): Promise<Delivery> {
  for (const [option, value] of [
    ['--body-file', flags.bodyFile],
    ['--headers-file', flags.headersFile],
    ['--request-file', flags.requestFile],
  ] as const) {
    filled(option, value);
  }
  checkWays(flags);
  const names = namesOf(settings);
  const { timestamp, signature, headersFile, requestFile } = flags;
  if (requestFile !== undefined) {
    return { names, ...(await readCapture(streamInput(io, '--request-file', requestFile), remark)) };
  }
  const body = streamInput(io, '--body-file', flags.bodyFile ?? '-');
  if (headersFile === undefined) {
    const headers = [
      [names.timestamp, timestamp ?? ''],
      [names.signature, signature ?? ''],
    ] as const;
    return { headers, names, body };
  }
  return { headers: parseHeadersFile(await readInput(io, '--headers-file', headersFile)), names, body };
}
