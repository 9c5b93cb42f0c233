import { CollectedBytes } from '../../collected-bytes.ts';
import { UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { readProblem } from '../../host/read-file.ts';
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

/** @throws UsageError unless the options give the headers in exactly one way, and the body in at most one */
function checkSources({ timestamp, signature, headersFile, requestFile, bodyFile }: DeliveryFlags): void {
  const isByValue = timestamp !== undefined || signature !== undefined;
  const count = [isByValue, headersFile !== undefined, requestFile !== undefined].filter(Boolean).length;
  if (count !== 1) {
    const message =
      count === 0 ? 'the headers of the delivery are missing' : 'the headers are given more than once';
    throw new UsageError(message, { hint: headerSources });
  }
  if (isByValue && (timestamp === undefined || signature === undefined)) {
    throw new UsageError('--timestamp and --signature require each other', {
      hint: 'add --timestamp <t> and --signature <s>, exactly as in the headers',
    });
  }
  if (bodyFile !== undefined && requestFile !== undefined) {
    throw new UsageError('--body-file and --request-file cannot be combined', {
      hint: 'a captured request contains its body',
    });
  }
  if (headersFile === '-' && (bodyFile ?? '-') === '-') {
    throw new UsageError('headers and body cannot both come from standard input', {
      hint: 'pass --body-file <file>, or a whole request with --request-file -',
    });
  }
}

/** Streams a file, or standard input for `-`. A part is valid only until the next one is requested. */
export async function* streamInput(io: Io, option: string, path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* path === '-' ? io.streamStdin() : io.streamFile(path);
  } catch (cause) {
    // Only read errors arrive here: when the consumer throws, the generator returns.
    throw new UsageError(`${option}: cannot read ${path}: ${readProblem(cause)}`, {
      hint: 'pass the path of a file, or - for standard input',
      cause,
    });
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
    hint: 'write one header per line, Name: value; a JSON object of headers works too',
  });
}

/** Reads `{ "Name": "value" }` or lists of values, alone or in a field `headers`. */
function jsonHeaders(text: string): HeaderPairs {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw invalidHeaders('the file begins like JSON, but is not valid JSON');
  }
  const headers = typeof json === 'object' && json !== null && 'headers' in json ? json.headers : json;
  if (typeof headers !== 'object' || headers === null) {
    throw invalidHeaders('the JSON is not an object of headers');
  }
  return Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((part) => [name, String(part)] as const),
  );
}

function parseHeadersFile(bytes: Uint8Array): HeaderPairs {
  // Windows PowerShell writes UTF-16 with a byte order mark by default.
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  const text = new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes);
  const pairs = /^\s*\{/.test(text)
    ? jsonHeaders(text)
    : // Report only the number of the line, since its text may be a secret.
      parseHeaderLines(text, (line) => invalidHeaders(`line ${line} is not a header`));
  if (pairs.length === 0) throw invalidHeaders('the file contains no headers');
  return pairs;
}

/** Reads the body only on demand. @throws UsageError unless the options describe exactly one delivery with readable headers */
export async function readSavedDelivery(
  { io, settings }: Context,
  flags: DeliveryFlags,
  note: (line: string) => void,
): Promise<SavedDelivery> {
  const { timestamp, signature, bodyFile, headersFile, requestFile } = flags;
  filled('--body-file', bodyFile);
  filled('--headers-file', headersFile);
  filled('--request-file', requestFile);
  checkSources(flags);
  const names = deliveryHeaders(settings);
  if (requestFile !== undefined) {
    const { headers, body } = readCapture(await readInput(io, '--request-file', requestFile), note);
    return { names, headers, body: [body] };
  }
  const body = streamInput(io, '--body-file', bodyFile ?? '-');
  if (headersFile !== undefined) {
    return { names, body, headers: parseHeadersFile(await readInput(io, '--headers-file', headersFile)) };
  }
  const headers = [
    [names.timestamp, timestamp ?? ''],
    [names.signature, signature ?? ''],
  ] as const;
  return { names, body, headers };
}
