// Writes THIRD_PARTY_LICENSES.txt next to the built files, with the licence of every bundled package. The last step of
// `npm run build`.
//
// The list of bundled packages comes from esbuild's metafiles (`tsup --metafile`). They stay in dist for tests and are not
// published; the one of the action is moved, since releases commit all of dist/action. A bundled package without a
// licence file fails the build. The text depends on the installed packages only: it is sorted and has no date or path.
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Returns the folders of the packages that contribute code to the output. */
export function bundled(metafile) {
  const folders = new Set();
  for (const output of Object.values(metafile.outputs)) {
    for (const [input, { bytesInOutput }] of Object.entries(output.inputs)) {
      const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0];
      if (folder !== undefined && bytesInOutput > 0) folders.add(folder);
    }
  }
  return [...folders];
}

/** The MIT licence without its copyright line. */
const mit = `Permission is hereby granted, free of charge, to any person obtaining a
copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including
without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the
following conditions:

The above copyright notice and this permission notice shall be included
in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS
OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN
NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE
USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** The licence of llhttp: undici ships it as WebAssembly, but without its licence. */
const llhttp = `llhttp, as WebAssembly in undici
License: MIT

This software is licensed under the MIT License.

Copyright Fedor Indutny, 2018.`;

/** From the repositories of packages that are published without their licence file. */
const unpublished = {
  '@redis/client': `MIT License\n\nCopyright (c) 2022-2023, Redis, inc.\n\n${mit}`,
};

const inWords = (text) => text.replace(/\s+/g, ' ').replace(/[“”]/g, '"').trim();

/** Returns what precedes the terms of the MIT licence, which are the same for most packages; null for another licence. */
function mitNotice(text) {
  const at = text.indexOf('Permission is hereby granted');
  return at >= 0 && inWords(text.slice(at)) === inWords(mit) ? text.slice(0, at).trim() : null;
}

const tidy = (text) =>
  text
    .replace(/\r\n?/g, '\n')
    .replace(/[ \t]+$/gm, '')
    .trim();

/** Returns the licence files of a package. */
function licenceOf(root, folder) {
  const read = (name) => readFileSync(join(root, folder, name), 'utf8');
  const { name, version, license } = JSON.parse(read('package.json'));
  const files = readdirSync(join(root, folder))
    .filter((file) => /^(licen[cs]e|copying|notice)([.-].*)?$/i.test(file))
    .sort();
  const texts = files.map((file) => tidy(read(file))).filter((text) => text !== '');
  if (texts.length === 0 && Object.hasOwn(unpublished, name)) texts.push(unpublished[name]);
  if (texts.length === 0) throw new Error(`${name}@${version} is bundled but has no licence file`);
  return { name, version, title: `${name} ${version}\nLicense: ${license}`, text: texts.join('\n\n') };
}

/** Returns the content of the file for the packages in these folders of `root`. */
export function licences(root, folders) {
  const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  const all = folders
    .map((folder) => licenceOf(root, folder))
    .sort((a, b) => compare(a.name, b.name) || compare(a.version, b.version))
    .filter((one, n, list) => list[n - 1]?.title !== one.title);
  // If several packages have the same text, it appears once, below all of their names.
  const titles = new Map();
  for (const { title, text } of all) titles.set(text, [...(titles.get(text) ?? []), title]);
  const parts = [...titles].map(([text, of]) => [...of, mitNotice(text) ?? text].join('\n\n'));
  const rule = `\n\n${'-'.repeat(80)}\n\n`;
  const head = 'The files beside this one contain the following packages, under the licenses given here.';
  const terms = `The terms of the MIT License, for each notice above that does not repeat them:\n\n${mit}`;
  return `${[head, ...parts, llhttp, terms].join(rule)}\n`;
}

function write(root) {
  const dist = join(root, 'dist');
  const metafile = (file) => {
    const path = join(dist, file);
    if (!existsSync(path)) throw new Error(`no ${path}: build with tsup --metafile`);
    return JSON.parse(readFileSync(path, 'utf8'));
  };
  const save = (folder, ...metafiles) => {
    const folders = [...new Set(metafiles.flatMap(bundled))];
    writeFileSync(join(dist, folder, 'THIRD_PARTY_LICENSES.txt'), licences(root, folders));
  };
  // The package contains dist without dist/action; the tagged commit of a release contains the action.
  const entries = ['metafile-esm.json', 'webhook/metafile-esm.json', 'receipt/metafile-esm.json'];
  save('.', ...entries.map(metafile));
  if (existsSync(join(dist, 'action/metafile-esm.json'))) {
    renameSync(join(dist, 'action/metafile-esm.json'), join(dist, 'metafile-action.json'));
  }
  save('action', metafile('metafile-action.json'));
  save('binary', metafile('binary/metafile-cjs.json'));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  write(fileURLToPath(new URL('..', import.meta.url)));
}
