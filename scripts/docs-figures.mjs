// Prints figures about the writing of the pages, by kind of page; with --pages, of each page.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** @param {string} path */
export const kindOf = (path) => /^docs\/([a-z-]+)\//.exec(path)?.[1] ?? 'root';

/** Returns the paths of all pages, in this working tree or another. */
export function pagePaths(tree = root) {
  const inFolder = (folder) =>
    readdirSync(`${tree}/${folder}`, { recursive: true, encoding: 'utf8' }).map(
      (name) => `${folder}/${name.replaceAll('\\', '/')}`,
    );
  return [...readdirSync(tree), ...inFolder('docs'), ...inFolder('skills')]
    .filter((name) => name.endsWith('.md'))
    .toSorted();
}

/** @param {string} text */
const countWords = (text) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
/** @param {string} text @param {RegExp} pattern */
const count = (text, pattern) => text.match(pattern)?.length ?? 0;

/**
 * Returns the counts of one page: words outside of code blocks, code blocks, sentences, sentences above 25 words, and so on. An
 * inline code span is one word.
 * @param {string} markdown
 */
export function figuresOf(markdown) {
  const bare = markdown.replace(/^---\n[\s\S]*?\n---\n/, '').replace(/<!--[\s\S]*?-->/g, '');
  const fence = /^( *)(```+|~~~+)[^\n]*\n[\s\S]*?^\1\2 *$/gm;
  const samples = count(bare, fence);
  const text = bare
    .replace(fence, '\n\n')
    .replace(/`[^`\n]+`/g, 'Code')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/<[^>]+>/g, '');
  const lines = text.split('\n');
  const tables = lines.filter((line) => /^\s*\|/.test(line)).join('\n');
  const items = lines.filter((line) => /^\s*(?:[-*]|\d+\.) /.test(line)).join('\n');
  const blocks = lines
    .map((line) => (/^\s*(?:\||#)/.test(line) ? '' : line.replace(/^\s*(?:[-*]|\d+\.) /, '\n')))
    .join('\n')
    .split(/\n\s*\n/)
    .map((block) => block.replace(/\s+/g, ' ').trim())
    .filter((block) => block !== '');
  const sentences = blocks.flatMap((block) => block.split(/(?<=[.!?:])["”)]?\s+(?=[\p{Lu}\d"“(])/u));
  return {
    words: countWords(text),
    samples,
    sentences: sentences.length,
    long: sentences.filter((sentence) => countWords(sentence) > 25).length,
    semicolons: count(text, /;/g),
    itemSemicolons: count(items, /;/g),
    you: count(text, /\b(?:you|your|yours|we|our|us)\b/gi),
    has: count(text, /\b(?:has|have|had) (?!been\b|to\b|not\b|already\b|\w+(?:ed|en)\b)/gi),
    tableWords: countWords(tables),
  };
}

/** @typedef {ReturnType<typeof figuresOf>} Figures */

/** @param {readonly Figures[]} all @returns {Figures} */
export function sumOf(all) {
  const sum = { ...figuresOf('') };
  for (const figures of all)
    for (const name of Object.keys(sum))
      sum[/** @type {keyof Figures} */ (name)] += figures[/** @type {keyof Figures} */ (name)];
  return sum;
}

/** @param {string} name @param {Figures} figures */
function row(name, { words, samples, sentences, long, semicolons, itemSemicolons, you, has }) {
  const per = (/** @type {number} */ n) => ((1000 * n) / Math.max(1, words)).toFixed(1);
  const share = ((100 * long) / Math.max(1, sentences)).toFixed(1);
  return [name, words, per(samples), `${share} %`, per(semicolons), itemSemicolons, per(you), per(has)].join(
    ' | ',
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const pages = pagePaths().map((path) => ({
    path,
    figures: figuresOf(readFileSync(`${root}/${path}`, 'utf8')),
  }));
  const kinds = [...new Set(pages.map(({ path }) => kindOf(path)))];
  console.log('| pages | words | samples | long sentences | semicolons | in list items | you, we | has |');
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- |');
  for (const kind of kinds)
    console.log(
      `| ${row(kind, sumOf(pages.filter(({ path }) => kindOf(path) === kind).map(({ figures }) => figures)))} |`,
    );
  console.log(`| ${row('all', sumOf(pages.map(({ figures }) => figures)))} |`);
  if (process.argv.includes('--pages'))
    for (const { path, figures } of pages) console.log(`| ${row(path, figures)} |`);
}
