import { CollectedBytes } from '../../collected-bytes.ts';
import { UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import type { HeaderNames } from '../../webhook/headers.ts';
import type { Context } from '../context.ts';
import { filled } from '../options.ts';
import { type HeaderPairs, parseHeaderLines, readCapture } from './capture.ts';
import { deliveryHeaders } from './receiver.ts';

export interface DeliveryFlags {
  bodyFile?: string;
  timestamp?: string;
  signature?: string;
  headersFile?: string;
  requestFile?: string;
}

/** A saved delivery. A body file is streamed. */
export interface SavedDelivery {
  headers: HeaderPairs;
  names: HeaderNames;
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

const headerSources =
  'pass --timestamp <t> and --signature <s>, or --headers-file <file>, or --request-file <file> with headers and body';

function rejectBoth(one: string, other: string, hint: string): never {
  throw new UsageError(`${one} and ${other} cannot be combined`, { hint });
}

/** @throws UsageError unless the options give the headers in exactly one way, and the body in at most one */
function checkSources(flags: DeliveryFlags): void {
  const { timestamp, signature, headersFile, requestFile, bodyFile } = flags;
  const byFlag = timestamp !== undefined || signature !== undefined;
  const given: string[] = [];
  if (byFlag) given.push(timestamp === undefined ? '--signature' : '--timestamp');
  if (headersFile !== undefined) given.push('--headers-file');
  if (requestFile !== undefined) given.push('--request-file');
  const [one, other] = given;
  if (one === undefined) {
    throw new UsageError('the headers of the delivery are missing', { hint: headerSources });
  }
  if (other !== undefined) rejectBoth(one, other, headerSources);
  if (bodyFile !== undefined && requestFile !== undefined) {
    rejectBoth('--body-file', '--request-file', 'a captured request contains its body');
  }
  if (byFlag && timestamp === undefined) {
    throw new UsageError('--signature requires --timestamp, which is signed too', {
      hint: 'add --timestamp <t>, exactly as in the header',
    });
  }
  if (byFlag && signature === undefined) {
    throw new UsageError('--timestamp requires --signature', {
      hint: 'add --signature <s>: sha256= and 64 hex digits',
    });
  }
  if (headersFile === '-' && (bodyFile === undefined || bodyFile === '-')) {
    throw new UsageError('headers and body cannot both come from standard input', {
      hint: 'pass --body-file <file>, or a whole request with --request-file -',
    });
  }
}

function unreadable(option: string, path: string, cause: unknown): UsageError {
  const { code } = cause as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    ENOENT: 'no such file',
    EISDIR: 'it is a folder',
    EACCES: 'permission denied',
  };
  return new UsageError(`${option}: cannot read ${path}: ${reasons[code ?? ''] ?? code ?? 'unknown'}`, {
    hint: 'pass the path of a file, or - for standard input',
    cause,
  });
}

/** Streams a file, or standard input for `-`. A part is valid only until the next one is requested. */
export async function* streamInput(io: Io, option: string, path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* path === '-' ? io.streamStdin() : io.streamFile(path);
  } catch (cause) {
    // Only read errors arrive here: when the consumer throws, the generator returns.
    throw unreadable(option, path, cause);
  }
}

/** More than any delivery, and more than the headers of any request. */
const limits = { '--request-file': 64 * 1024 * 1024, '--headers-file': 1024 * 1024 } as const;

async function readInput(io: Io, option: keyof typeof limits, path: string): Promise<Uint8Array> {
  const bytes = new CollectedBytes(limits[option]);
  for await (const part of streamInput(io, option, path)) {
    if (bytes.add(new Uint8Array(part))) continue;
    throw new UsageError(`${option}: ${path} is larger than ${limits[option] / 1024 ** 2} MiB`, {
      hint: 'pass a file with only the headers, and the body with --body-file',
    });
  }
  return bytes.bytes();
}

function invalidHeaders(message: string): UsageError {
  return new UsageError(`--headers-file: ${message}`, {
    hint: 'write one header per line, Name: value; output of curl -D or -v and JSON objects of headers work too',
  });
}

type JsonObject = Readonly<Record<string, unknown>>;

function jsonPair(entry: unknown): readonly [string, string] {
  const [name, value] = Array.isArray(entry)
    ? entry
    : [(entry as JsonObject)?.name, (entry as JsonObject)?.value];
  if (typeof name === 'string' && typeof value === 'string') return [name, value];
  throw invalidHeaders('the JSON is a list, but not of headers');
}

/** Reads `{ "Name": "value" }` or lists of values; lists of pairs or of `{ name, value }`; or any of these in `headers`. */
function jsonHeaders(json: unknown): HeaderPairs {
  const inner = typeof json === 'object' && json !== null && 'headers' in json ? json.headers : json;
  if (Array.isArray(inner)) return inner.map(jsonPair);
  if (typeof inner !== 'object' || inner === null)
    throw invalidHeaders('the JSON is not an object of headers');
  return Object.entries(inner as JsonObject).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => [name, String(one)] as const),
  );
}

/** Decodes UTF-8 or UTF-16: Windows PowerShell writes UTF-16 with a byte order mark by default. */
function decode(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes);
}

function parseHeadersFile(bytes: Uint8Array): HeaderPairs {
  const text = decode(bytes);
  let pairs: HeaderPairs;
  if (/^\s*[[{]/.test(text)) {
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      throw invalidHeaders('the file begins like JSON, but is not valid JSON');
    }
    pairs = jsonHeaders(json);
  } else {
    // Report only the number of the line, since its text may be a secret.
    pairs = parseHeaderLines(text.split(/\r?\n/), (line) => invalidHeaders(`line ${line} is not a header`));
  }
  if (pairs.length === 0) throw invalidHeaders('the file contains no headers');
  return pairs;
}

/** Reads the body only on demand. @throws UsageError unless the options describe exactly one delivery with readable headers */
export async function readSavedDelivery(
  { io, settings }: Context,
  flags: DeliveryFlags,
  note: (line: string) => void,
): Promise<SavedDelivery> {
  filled('--body-file', flags.bodyFile);
  filled('--headers-file', flags.headersFile);
  filled('--request-file', flags.requestFile);
  checkSources(flags);
  const names = deliveryHeaders(settings);
  const { timestamp, signature, headersFile, requestFile } = flags;
  if (requestFile !== undefined) {
    const { headers, body } = readCapture(await readInput(io, '--request-file', requestFile), note);
    return { names, headers, body: [body] };
  }
  const body = streamInput(io, '--body-file', flags.bodyFile ?? '-');
  if (headersFile !== undefined) {
    return { names, body, headers: parseHeadersFile(await readInput(io, '--headers-file', headersFile)) };
  }
  const headers = [
    [names.timestamp, timestamp ?? ''],
    [names.signature, signature ?? ''],
  ] as const;
  return { names, body, headers };
}
