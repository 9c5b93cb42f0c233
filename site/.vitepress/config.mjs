import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { addressOf as repositoryOf } from '../../scripts/repository.mjs';
import { exitCodes } from '../../src/exit.ts';
import { anchorOf, plainText, relativeLinks, tabs } from './markdown.mjs';
import { addressOf, readPages } from './pages.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path) => readFileSync(join(root, path), 'utf8');
const manifest = JSON.parse(read('package.json'));
const repository = repositoryOf(manifest);
const source = repository === '' ? '' : `${repository}/blob/v${manifest.version}`;

/** The path under which the site is served. Each version can have its own, and is written to the folder of that name. */
const base = process.env.SITE_BASE ?? '/';
const { pages, sections, titles } = readPages(root);
/** The files in docs/ that pages link to, besides pages. */
const linked = new Set();

const isPage = (path) => extname(path) === '.md';
const clean = (path) => `/${addressOf(path).replace(/(^index)?[.]md$/, '')}`;

const sidebar = sections.map(({ title, paths }) => ({
  text: title,
  items: paths.map((path) => {
    if (isPage(path)) return { text: titles.get(path), link: clean(path) };
    linked.add(path);
    return { text: titles.get(path), link: clean(path), target: '_self' };
  }),
}));

const nav = sections
  .filter(({ title }) => title !== undefined)
  .map(({ title, paths }) => ({
    text: title,
    link: `/#${anchorOf(title)}`,
    activeMatch: `^(${paths.map(clean).join('|')})$`,
  }));

/** Writes a short address for each exit code, which leads to the section about them. */
function writeExitCodes(outDir) {
  const page = pages.find((path) => /^#+ Exit codes$/m.test(read(path)));
  const target = `../../${addressOf(page).replace(/md$/, 'html')}#exit-codes`;
  for (const code of Object.values(exitCodes)) {
    const folder = join(outDir, 'exit', String(code));
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, 'index.html'),
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>Exit code ${code}</title>
<meta http-equiv="refresh" content="0; url=${target}"><p><a href="${target}">Exit code ${code}</a></p></html>\n`,
    );
  }
}

/** Leaves Vue to the renderer of the pages, which finds it here: the pages are in other folders. */
const externalVue = {
  name: 'external-vue',
  enforce: 'pre',
  resolveId: (id, _importer, { ssr }) => (ssr && /^vue(\/|$)/.test(id) ? { id, external: true } : undefined),
};

export default defineConfig({
  title: manifest.name,
  description: manifest.description,
  lang: 'en-GB',
  base,
  srcDir: root,
  srcExclude: ['!(docs)/**/*.md', `!(${pages.filter((path) => !path.includes('/')).join('|')})*.md`],
  outDir: join(root, 'site/dist', base),
  cacheDir: join(root, 'site/node_modules/.cache'),
  rewrites: (path) => addressOf(path),
  vite: { plugins: [externalVue] },
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: anchorOf },
    attrs: { disable: true },
    config(md) {
      plainText(md);
      relativeLinks(md, { root, base, source, pages, titles, linked });
      tabs(md);
    },
  },
  themeConfig: {
    nav: [...nav, { text: manifest.version, link: clean('CHANGELOG.md') }],
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
  },
  buildEnd({ outDir }) {
    writeExitCodes(outDir);
    for (const path of linked) {
      const target = join(outDir, addressOf(path));
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(join(root, path), target);
    }
  },
});
