import { CollectedBytes } from '../../collected-bytes.ts';
import { UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import type { HeaderNames } from '../../webhook/headers.ts';
import type { Context } from '../context.ts';
import { filled } from '../global-options.ts';
import { type HeaderPairs, parseHeaderLines, readCapture } from './capture.ts';
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

function exclude(one: string, other: string, hint: string): never {
  throw new UsageError(`${one} and ${other} exclude each other`, { hint });
}

/** Exactly one way to give the headers. */
function checkWays(flags: DeliveryFlags): void {
  const { timestamp, signature, headersFile, requestFile, bodyFile } = flags;
  const byFlag = timestamp !== undefined || signature !== undefined;
  const given: string[] = [];
  if (byFlag) given.push(timestamp === undefined ? '--signature' : '--timestamp');
  if (headersFile !== undefined) given.push('--headers-file');
  if (requestFile !== undefined) given.push('--request-file');
  const [one, other] = given;
  if (one === undefined) {
    throw new UsageError('nothing says what the headers of the delivery were', { hint: ways });
  }
  if (other !== undefined) exclude(one, other, ways);
  if (bodyFile !== undefined && requestFile !== undefined) {
    exclude('--body-file', '--request-file', 'a captured request has its body in it');
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

function unreadable(option: string, path: string, cause: unknown): UsageError {
  const { code } = cause as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    ENOENT: 'there is no such file',
    EISDIR: 'it is a folder',
    EACCES: 'it is not allowed',
  };
  return new UsageError(`${option}: ${path} cannot be read: ${reasons[code ?? ''] ?? code ?? 'unknown'}`, {
    hint: 'name a file, or - for standard input',
    cause,
  });
}

/** The bytes of a file, or of standard input for `-`, as they come; each part holds until the next is asked for. */
export async function* streamInput(io: Io, option: string, path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* path === '-' ? io.streamStdin() : io.streamFile(path);
  } catch (cause) {
    // What the consumer throws never gets here: a generator that is left is ended, not thrown at.
    throw unreadable(option, path, cause);
  }
}

/** More than any headers have. */
const mostHeaderBytes = 1024 * 1024;

async function readHeadersFile(io: Io, path: string): Promise<HeaderPairs> {
  const bytes = new CollectedBytes(mostHeaderBytes);
  for await (const part of streamInput(io, '--headers-file', path)) {
    if (bytes.add(new Uint8Array(part))) continue;
    throw new UsageError(`--headers-file: ${path} is larger than any headers are`, {
      hint: 'name the file of the headers; the body goes with --body-file',
    });
  }
  return parseHeadersFile(bytes.bytes());
}

function wrong(message: string): UsageError {
  return new UsageError(`--headers-file: ${message}`, {
    hint: 'write one header a line, Name: value; output of curl -D or -v and a JSON object of headers are read too',
  });
}

type Json = Readonly<Record<string, unknown>>;

function jsonPair(entry: unknown): readonly [string, string] {
  const [name, value] = Array.isArray(entry) ? entry : [(entry as Json)?.name, (entry as Json)?.value];
  if (typeof name === 'string' && typeof value === 'string') return [name, value];
  throw wrong('the JSON is a list, but not of headers');
}

/** `{ "Name": "value" }`, values as lists too; a list of pairs or of `{ name, value }`; any of these as `headers`. */
function jsonHeaders(json: unknown): HeaderPairs {
  const inner = typeof json === 'object' && json !== null && 'headers' in json ? json.headers : json;
  if (Array.isArray(inner)) return inner.map(jsonPair);
  if (typeof inner !== 'object' || inner === null) throw wrong('the JSON is not an object of headers');
  return Object.entries(inner as Json).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => [name, String(one)] as const),
  );
}

/** A file as text: PowerShell writes UTF-16 by default, with a mark at its beginning. */
function decode(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes);
}

/** The headers of a file in any of the forms that people keep them in. */
function parseHeadersFile(bytes: Uint8Array): HeaderPairs {
  const text = decode(bytes);
  let pairs: HeaderPairs;
  if (/^\s*[[{]/.test(text)) {
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      throw wrong('it begins like JSON, but is not JSON');
    }
    pairs = jsonHeaders(json);
  } else {
    // The line may hold anything, a secret too: only its number is told.
    pairs = parseHeaderLines(text.split(/\r?\n/), (line) => wrong(`line ${line} is not a header`));
  }
  if (pairs.length === 0) throw wrong('there are no headers in it');
  return pairs;
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
  filled('--body-file', flags.bodyFile);
  filled('--headers-file', flags.headersFile);
  filled('--request-file', flags.requestFile);
  checkWays(flags);
  const names = headerNamesOf(settings);
  const { timestamp, signature, headersFile, requestFile } = flags;
  if (requestFile !== undefined) {
    return { names, ...(await readCapture(streamInput(io, '--request-file', requestFile), remark)) };
  }
  const body = streamInput(io, '--body-file', flags.bodyFile ?? '-');
  if (headersFile !== undefined) return { names, body, headers: await readHeadersFile(io, headersFile) };
  const headers = [
    [names.timestamp, timestamp ?? ''],
    [names.signature, signature ?? ''],
  ] as const;
  return { names, body, headers };
}
