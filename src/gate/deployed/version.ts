import { type JsonNode, parseJson } from '../../json/parse.ts';
import { ambiguousIn, parsePointer } from '../run-id.ts';

/** The version in a response, or the reason why it has none, as a clause. */
export type Version = { text: string } | { problem: string };

function pointedText(body: string, pointer: string): Version {
  let json: JsonNode;
  try {
    json = parseJson(body);
  } catch {
    return { problem: 'the response is not JSON' };
  }
  const path = parsePointer(pointer);
  const twice = ambiguousIn(json, path);
  if (twice !== undefined) return { problem: `the response has "${twice}" twice` };
  const version = json.at(path);
  if (version === undefined) return { problem: `the response has nothing at ${pointer}` };
  const { value, text } = version;
  if (typeof value === 'string') return { text: value.trim() };
  // The text of a number keeps its digits: 1.10 is not 1.1.
  return typeof value === 'number' ? { text } : { problem: `${pointer} is not a string or a number` };
}

/**
 * Returns the version in the body of a version page: all of it, trimmed, or the string or number at a JSON pointer. Markup
 * is the page of a proxy or of an application without a version page, not a version.
 */
export function versionIn(body: string, pointer: string | undefined): Version {
  const version = pointer === undefined ? { text: body.trim() } : pointedText(body, pointer);
  if ('problem' in version) return version;
  if (version.text === '') return { problem: 'the version is empty' };
  // Compressed, in UTF-16, or binary.
  if (/(?![\t\n\r])\p{Cc}|\ufffd/u.test(version.text))
    return { problem: 'the response is not readable text' };
  return version.text.startsWith('<') ? { problem: 'the response is markup, not a version' } : version;
}

/** The shortest abbreviation that counts as a commit, in digits. */
const shortest = 7;
const isHash = (text: string) => text.length >= shortest && /^[0-9a-f]+$/i.test(text);
const isWhole = (text: string) => text.length === 40 || text.length === 64;

/**
 * Returns whether a version is the expected one: the same text, or one is an abbreviation of the other, a commit. Without a
 * letter, a number such as 20261122 abbreviates only a whole commit: builds have numbers too.
 */
export function isExpected(text: string, expected: string): boolean {
  if (text === expected) return true;
  if (!isHash(text) || !isHash(expected)) return false;
  const [short, long] = [text.toLowerCase(), expected.toLowerCase()].toSorted((a, b) => a.length - b.length);
  if (short === undefined || long?.startsWith(short) !== true) return false;
  return isWhole(long) || /[a-f]/.test(short);
}
