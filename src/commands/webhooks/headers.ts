import { UsageError } from '../../errors.ts';
import { trim } from '../../webhook/headers.ts';

/** Headers as they were written, in their order, those of one name too. */
export type HeaderPairs = readonly (readonly [string, string])[];

const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:(.*)$/;
/** `POST /hook HTTP/1.1`, `HTTP/2 200`. */
const startLine = /^(?:[A-Z]+ \S+ HTTP\/\d(?:\.\d)?|HTTP\/\d(?:\.\d)?(?: .*)?)$/;

function wrong(message: string): UsageError {
  return new UsageError(`--headers-file: ${message}`, {
    hint: 'write one header a line, Name: value; output of curl -D or -v and a JSON object of headers are read too',
  });
}

/** The headers among lines that `curl -v` wrote: `> ` what was sent, `< ` what came; the rest is curl's own talk. */
function curlLines(lines: readonly string[]): readonly string[] {
  const marked = lines.filter((line) => /^[<>] /.test(line));
  const isVerbose = marked.some((line) => startLine.test(line.slice(2)));
  return isVerbose ? marked.map((line) => line.slice(2)) : lines;
}

/**
 * Headers from lines: a request or status line in front is passed over, a folded line belongs to the one before. Of
 * several blocks, as `curl -D` writes them along redirects, the last counts.
 */
export function parseHeaderLines(text: string, complain: (line: number, text: string) => Error): HeaderPairs {
  let pairs: [string, string][] = [];
  let ended = false;
  for (const [index, line] of curlLines(text.split(/\r?\n/)).entries()) {
    if (startLine.test(line)) {
      pairs = [];
      ended = false;
      continue;
    }
    if (line.trim() === '') {
      ended = pairs.length > 0;
      continue;
    }
    // What follows the blank line is a body, and none of our business.
    if (ended) continue;
    const last = pairs.at(-1);
    const match = headerLine.exec(last === undefined ? line.trimStart() : line);
    if (match !== null) pairs.push([match[1] ?? '', trim(match[2] ?? '')]);
    else if (last !== undefined && /^[ \t]/.test(line)) last[1] += ` ${line.trim()}`;
    else throw complain(index + 1, line);
  }
  return pairs;
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
export function parseHeadersFile(bytes: Uint8Array): HeaderPairs {
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
    pairs = parseHeaderLines(text, (line) => wrong(`line ${line} is not a header`));
  }
  if (pairs.length === 0) throw wrong('there are no headers in it');
  return pairs;
}
