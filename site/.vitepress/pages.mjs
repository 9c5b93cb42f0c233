import { readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join, posix } from 'node:path';

const index = 'docs/README.md';

/** A row of a table or an item of a list that starts with a link. */
const entry = /^(?:\||[-*]|\d+\.) *\[[^\]]+\]\(([^)#:]+)\)/gm;
const link = /\]\(([^)#:]+)\)/g;

/** Returns where the site shows a page: `docs/start/gate.md` is `start/gate.md`, and `SECURITY.md` is `security.md`. */
export function addressOf(path) {
  if (path === index) return 'index.md';
  return path.startsWith('docs/') ? path.slice('docs/'.length) : path.toLowerCase();
}

/**
 * Returns the site's pages by their paths, with their titles, and the sections of docs/README.md with the paths that they list.
 * @throws if docs/README.md does not list a page in docs/, or if two pages have the same address
 */
export function readPages(root) {
  const read = (path) => readFileSync(join(root, path), 'utf8');
  const targets = (text, pattern) => [...text.matchAll(pattern)].map((match) => posix.join('docs', match[1]));
  const [intro, ...rest] = read(index).split(/^## /m);
  const named = rest.map((text) => ({ title: text.split('\n', 1)[0], paths: targets(text, entry) }));
  const inTables = named.flatMap(({ paths }) => paths);
  const first = targets(intro, link).filter((path) => !inTables.includes(path));
  const sections = [{ paths: [index, ...first] }, ...named];

  const listed = new Set(sections.flatMap(({ paths }) => paths));
  const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => posix.join('docs', name));
  const missing = inDocs.filter((path) => !listed.has(path));
  if (missing.length > 0) throw new Error(`${index} does not list ${missing.join(', ')}`);

  const titles = new Map();
  for (const path of listed) {
    const title = extname(path) === '.md' ? /^# (.+)$/m.exec(read(path))?.[1] : undefined;
    titles.set(path, title ?? basename(path));
  }
  const pages = [...listed].filter((path) => extname(path) === '.md');
  const twice = pages.filter((path, at) => pages.map(addressOf).indexOf(addressOf(path)) !== at);
  if (twice.length > 0) throw new Error(`another page has the address of ${twice.join(', ')}`);
  return { pages, sections, titles };
}
