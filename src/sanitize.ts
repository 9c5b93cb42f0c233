/** C0 and C1 control characters, line separators, and characters that reorder or hide text. */
const dangerous = /[\u0000-\u001f\u007f-\u009f\u200b\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** The direction marks, which right-to-left text needs. Unlike overrides and isolates, they hide in any other text. */
const marks = /[\u061c\u200e\u200f]/g;

/** A letter or digit of Hebrew, Arabic and other right-to-left scripts, or the shekel sign, which may be the only one of them. */
const rightToLeft =
  /[\u05d0-\u05f4\u0620-\u08ff\u20aa\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1ef00}]/u;

/** The CI commands that work in mid-line. GitHub's `::` works only at the start of a line, after optional whitespace. */
const commandMarks = /##(?=vso\[|\[|teamcity\[)/gi;

function visible(char: string): string {
  if (char === '\n') return '\\n';
  if (char === '\r') return '\\r';
  if (char === '\t') return '\\t';
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * Makes untrusted text safe for a terminal and a CI log: one line, no control or escape sequences, no reordering, no
 * workflow commands. Nothing is dropped: dangerous characters become visible escapes.
 */
export function sanitize(text: string): string {
  return sanitizeProse(text.replace(marks, visible));
}

/** Like `sanitize`, but direction marks stay in right-to-left text. Not for keys, ids and names, which a mark makes look equal. */
export function sanitizeProse(text: string): string {
  return (rightToLeft.test(text) ? text : text.replace(marks, visible))
    .replace(dangerous, visible)
    .replace(commandMarks, '# #')
    .replace(/^([\s\u061c\u200e\u200f]*)::/, '$1: :');
}

export function sanitizeLines(text: string): string {
  return `${text
    .replace(/\r?\n$/, '')
    .split(/\r?\n/)
    .map(sanitize)
    .join('\n')}\n`;
}

/** Sanitizes untrusted text and shortens it to `limit` characters. */
export function excerpt(text: string, limit = 200): string {
  const line = sanitize(text);
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
}

/** Escapes the characters of JSON text that could control a terminal or a CI system; its value stays the same. */
export function escapeJson(json: string): string {
  // Most text is ASCII, in which only these two can occur; replacing them directly takes a fraction of the time.
  if (Buffer.byteLength(json) === json.length)
    return json.split('#').join('\\u0023').replaceAll('\u007f', '\\u007f');
  const inStrings = /[#\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
  return json.replace(inStrings, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
