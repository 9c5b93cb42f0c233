/** C0 and C1 controls, the line separators, and the marks that reorder or hide text. */
const dangerous = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** What a CI takes for a command in mid-line; GitHub's `::` counts first in a line only, after any space. */
const commandMarks = /##(?=vso\[|\[|teamcity\[)/gi;

function visible(char: string): string {
  if (char === '\n') return '\\n';
  if (char === '\r') return '\\r';
  if (char === '\t') return '\\t';
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * Untrusted text in a form that cannot command a terminal or a CI: one line, no control or escape sequence, no
 * reordering, no workflow command. What was taken out is shown, not dropped.
 */
export function sanitize(text: string): string {
  return text
    .replace(dangerous, visible)
    .replace(commandMarks, '# #')
    .replace(/^(\s*)::/, '$1: :');
}

/** Untrusted text of several lines, each harmless. */
export function sanitizeLines(text: string): string {
  return `${text
    .replace(/\r?\n$/, '')
    .split(/\r?\n/)
    .map(sanitize)
    .join('\n')}\n`;
}

/** Untrusted text, in one line and no longer than `limit` characters. */
export function excerpt(text: string, limit = 200): string {
  const line = sanitize(text);
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
}

/** JSON text stays exact: what could command a reader of the log is written as an escape. */
export function escapeJson(json: string): string {
  // ASCII, which most text is, has no more than these two; this way it takes a fraction of the time.
  if (Buffer.byteLength(json) === json.length)
    return json.split('#').join('\\u0023').replaceAll('\u007f', '\\u007f');
  const inStrings = /[#\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
  return json.replace(inStrings, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
