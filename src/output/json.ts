import { gateResults } from '../gate/plan/graph.ts';
import { verdicts } from '../gate/policy.ts';
import { redactToken } from '../json/rewrite.ts';
import { isString, layOut, tokensOf } from '../json/tokens.ts';
import { type Redact, redactNothing } from '../redact.ts';
import { escapeJson } from '../sanitize.ts';

/** Whether the result is JSON, which programs read. */
export const wantsJson = ({ format }: { readonly format: string }) =>
  format === 'json' || format === 'ndjson';

/** Never redacted: a secret that equals one of these words must not hide the verdict. */
const outcomes: readonly string[] = [...gateResults, ...verdicts];

/** Writes a string without escapes that people could not read: `\u00e9` as `é`. */
const readable = (token: string) =>
  isString(token) && token.includes('\\') ? JSON.stringify(JSON.parse(token)) : token;

/** Redacted, and with a newline. Numbers keep their digits: `10.50` stays `10.50`, and a long id loses none. */
export function renderResponse(json: string, indent: 0 | 2, redact: Redact = redactNothing): string {
  const redacted = (text: string) => (outcomes.includes(text) ? text : redact(text));
  const tokens = tokensOf(json).map((token) => readable(redactToken(token, redacted)));
  const layout = { comma: ',', colon: indent === 0 ? ':' : ': ', indent: ' '.repeat(indent) };
  return `${escapeJson(layOut(tokens, layout))}\n`;
}

/** Returns a value as `renderResponse` writes its JSON. */
export function renderJson(value: unknown, indent: 0 | 2, redact?: Redact): string {
  return renderResponse(JSON.stringify(value) ?? 'null', indent, redact);
}
