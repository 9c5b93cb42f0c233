import { readFileSync, writeFileSync } from 'node:fs';

/** Replaces the text between two lines of a file. @param markers the first and the last line, which stay */
export function writeBetween(file, [first, last], text) {
  const [before, rest] = readFileSync(file, 'utf8').split(first);
  const after = rest.split(last)[1];
  writeFileSync(file, `${before}${first}\n\n${text}\n\n${last}${after}`);
}
