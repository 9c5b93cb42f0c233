import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, posix } from 'node:path';

/** The first page, and the list of all others. */
const front = 'README.md';
const index = 'docs/README.md';
const addresses = { [front]: 'index.md', [index]: 'pages.md' };

/** A row of a table or an item of a list that starts with a link. */
const entry = /^(?:\||[-*]|\d+\.) *\[[^\]]+\]\(([^)#:]+)\)/gm;

export const isPage = (path) => path.endsWith('.md');

/** Returns where the site shows a file: `docs/start/gate.md` is `start/gate.md`, and `SECURITY.md` is `security.md`. */
export function addressOf(path) {
  return addresses[path] ?? (path.startsWith('docs/') ? path.slice('docs/'.length) : path.toLowerCase());
}

/**
 * Returns the sections of docs/README.md with the paths that they list, and the titles of these files.
 * @throws if docs/README.md does not list a page in docs/, or if two files have the same address
 */
export function readPages(root) {
  const read = (path) => readFileSync(join(root, path), 'utf8');
  const targets = (text) => [...text.matchAll(entry)].map(([, path]) => posix.join('docs', path));
  const [, ...rest] = read(index).split(/^## /m);
  const named = rest.map((text) => ({ title: text.split('\n', 1)[0], paths: targets(text) }));
  const sections = [{ paths: [front, index] }, ...named];
  const listed = sections.flatMap(({ paths }) => paths);
  const names = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter(isPage);
  const missing = names.filter((name) => !listed.includes(posix.join('docs', name)));
  if (missing.length > 0) throw new Error(`${index} does not list ${missing.join(', ')}`);
  const twice = listed.filter((path, at) => listed.map(addressOf).indexOf(addressOf(path)) !== at);
  if (twice.length > 0) throw new Error(`another page has the address of ${twice.join(', ')}`);

  const titleOf = (path) => (isPage(path) && /^# (.+)$/m.exec(read(path))?.[1]) || basename(path);
  return { sections, titles: new Map(listed.map((path) => [path, titleOf(path)])) };
}
