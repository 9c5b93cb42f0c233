/** Deeper than any reply of a service, and shallow enough for whoever walks it with a function that calls itself. */
export const deepestReply = 500;

const quote = 0x22;
const backslash = 0x5c;

/** The place after the text that begins before `at`. */
function afterString(json: string, at: number): number {
  let end = json.indexOf('"', at);
  while (end >= 0) {
    let escapes = 0;
    while (json.charCodeAt(end - 1 - escapes) === backslash) escapes += 1;
    if (escapes % 2 === 0) return end + 1;
    end = json.indexOf('"', end + 1);
  }
  return json.length;
}

/** Whether JSON text nests arrays and objects deeper than `limit`. */
export function isDeeper(json: string, limit: number = deepestReply): boolean {
  if (json.length <= 2 * limit) return false;
  let depth = 0;
  for (let at = 0; at < json.length; ) {
    const code = json.charCodeAt(at);
    at += 1;
    if (code === quote) {
      at = afterString(json, at);
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > limit) return true;
    } else if (code === 0x5d || code === 0x7d) {
      depth -= 1;
    }
  }
  return false;
}
