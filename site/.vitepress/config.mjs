import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import manifest from '../../package.json';
import { addressOf as repositoryOf } from '../../scripts/repository.mjs';
import { exitCodes } from '../../src/exit.ts';
import { anchorOf, consoleLines, plainText, relativeLinks, tabs, wholeWords } from './markdown.mjs';
import { addressOf, isPage, readPages } from './pages.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const source = repositoryOf(manifest) && `${repositoryOf(manifest)}/blob/v${manifest.version}`;

/** The path under which the site is served. Each version can have its own, and is written to the folder of that name. */
const base = (process.env.SITE_BASE ?? '').replace(/\/?$/, '/');
const { sections, titles } = readPages(root);
const pages = [...titles.keys()].filter(isPage);
/** The files in docs/ that pages link to, besides pages. */
const files = new Set([...titles.keys()].filter((path) => !isPage(path)));
/** Returns a link for VitePress, which adds the base and the ending to links to pages only. */
const link = (path) =>
  isPage(path) ? `/${addressOf(path).replace(/(^index)?[.]md$/, '')}` : `${base}${addressOf(path)}`;
const listOf = ({ title, paths }) => ({
  text: title,
  items: paths.map((path) => ({ text: titles.get(path), link: link(path) })),
});
/** Pages about the project have their own sidebar: users need none of them. */
const [first, ...others] = sections;
const ofProject = ({ title }) => title === 'Project';
const sidebar = {
  '/': [first, ...others.filter((section) => !ofProject(section))].map(listOf),
  ...Object.fromEntries(
    others
      .filter(ofProject)
      .flatMap((section) => section.paths.map((path) => [link(path), [first, section].map(listOf)])),
  ),
};
const nav = sections.slice(1).map(({ title, paths }) => ({
  text: title,
  link: `/pages#${anchorOf(title)}`,
  activeMatch: `^(${paths.map(link).join('|')})$`,
}));

/** Writes a short address for each exit code, which leads to the section about them. */
function writeExitCodes(outDir) {
  const page = pages.find((path) => /^# Exit codes$/m.test(readFileSync(join(root, path), 'utf8')));
  for (const code of Object.values(exitCodes)) {
    const section = `../../${addressOf(page).replace(/md$/, 'html')}#exit-code-${code}`;
    const folder = join(outDir, 'exit', `${code}`);
    mkdirSync(folder, { recursive: true });
    const head = `<meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${section}">`;
    const body = `<title>Exit code ${code}</title><p><a href="${section}">Exit code ${code}</a></p>`;
    writeFileSync(join(folder, 'index.html'), `<!doctype html><html lang="en">${head}${body}</html>\n`);
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
  rewrites: addressOf,
  // Help texts name local servers.
  ignoreDeadLinks: 'localhostLinks',
  vite: {
    // The index of the search has the text of all pages, and is loaded by the search only.
    build: { chunkSizeWarningLimit: 2000 },
    plugins: [externalVue],
  },
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: anchorOf },
    attrs: { disable: true },
    codeTransformers: [consoleLines],
    config(md) {
      plainText(md);
      wholeWords(md);
      relativeLinks(md, { root, base, source, titles, files });
      tabs(md);
    },
  },
  themeConfig: {
    nav: [...nav, { text: manifest.version, link: link('CHANGELOG.md') }],
    sidebar,
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          searchOptions: {
            // The names of sections are what readers look up, and pages about the project answer few of their questions.
            boost: { title: 6, titles: 2, text: 1 },
            boostDocument: (id) => (/\/(project\/|changelog|contributing|agents)/.test(id) ? 0.2 : 1),
          },
        },
      },
    },
  },
  buildEnd({ outDir }) {
    writeExitCodes(outDir);
    for (const path of files) cpSync(join(root, path), join(outDir, addressOf(path)));
  },
});
