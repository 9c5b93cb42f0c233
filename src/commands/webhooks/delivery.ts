import { UsageError } from '../../errors.ts';
import type { HeaderNames } from '../../webhook/headers.ts';
import type { Context } from '../context.ts';
import { filled } from '../options.ts';
import { readInput } from '../read-input.ts';
import type { FlagsOf } from '../spec.ts';
import { type HeaderPairs, parseHeaderLines, readCapture } from './capture.ts';
import { deliveryHeaders } from './receiver.ts';

export const deliveryOptions = {
  '--body-file <file>': 'file with the raw body; - for standard input (default)',
  '--timestamp <t>': 'value of the timestamp header',
  '--signature <s>': 'value of the signature header',
  '--headers-file <file>': 'file with both headers, as lines or as JSON',
  '--request-file <file>': 'file with a complete captured request (headers and body)',
};
type DeliveryFlags = FlagsOf<typeof deliveryOptions>;

export interface SavedDelivery {
  headers: HeaderPairs;
  names: HeaderNames;
  body: Uint8Array;
}

/** @throws UsageError unless the options give the headers in exactly one way, and the body in at most one */
function checkSources({ timestamp, signature, headersFile, requestFile, bodyFile }: DeliveryFlags): void {
  const ways = [timestamp ?? signature, headersFile, requestFile].filter((way) => way !== undefined);
  if (ways.length !== 1 || (timestamp === undefined) !== (signature === undefined)) {
    throw new UsageError('the headers of the delivery must be given in exactly one way', {
      hint: 'pass --timestamp <t> and --signature <s>, or --headers-file <file>, or --request-file <file> with headers and body',
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

function parseHeadersFile(bytes: Uint8Array): HeaderPairs {
  // Windows PowerShell writes UTF-16 with a byte order mark by default.
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  const text = new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes);
  const hint = 'write one header per line, Name: value';
  // Report only the number of the line, since its text may be a secret.
  const pairs = parseHeaderLines(
    text,
    (line) => new UsageError(`--headers-file: line ${line} is not a header`, { hint }),
  );
  if (pairs.length > 0) return pairs;
  throw new UsageError('--headers-file: the file contains no headers', { hint });
}

/** @throws UsageError unless the options describe exactly one delivery with readable headers */
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
    return { names, headers, body };
  }
  let headers: HeaderPairs = [
    [names.timestamp, timestamp ?? ''],
    [names.signature, signature ?? ''],
  ];
  if (headersFile !== undefined) {
    headers = parseHeadersFile(await readInput(io, '--headers-file', headersFile));
  }
  return { names, headers, body: await readInput(io, '--body-file', bodyFile ?? '-') };
}
