import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import MarkdownIt from 'markdown-it';
import { describe, expect, it } from 'vitest';
import { root } from '../e2e/built.ts';
import { pages, textOf } from './pages.ts';

const markdown = new MarkdownIt({ html: true });

/** Returns the targets of a page's links and images, as written. */
function linksOf(text: string): string[] {
  return markdown.parse(text, {}).flatMap(({ children }) =>
    (children ?? []).flatMap((token) => {
      const link = token.attrGet('href') ?? token.attrGet('src');
      return link === null ? [] : [decodeURI(String(link))];
    }),
  );
}

/** Returns the anchors of a page by GitHub's rule: lower case, hyphens for blanks, no punctuation, duplicates numbered. */
function anchorsOf(text: string): string[] {
  const seen = new Map<string, number>();
  const tokens = markdown.parse(text, {});
  return tokens.flatMap((token, index) => {
    if (token.type !== 'heading_open') return [];
    const heading = (tokens[index + 1]?.children ?? []).map(({ content }) => content).join('');
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return [times === 0 ? anchor : `${anchor}-${times}`];
  });
}

const isLocal = (link: string) => !/^[a-z]+:/i.test(link);

/** Returns the path in the repository and the anchor that a link of a page points to. */
function targetOf(page: string, link: string): { path: string; anchor: string | undefined } {
  const [path = '', anchor] = link.split('#');
  return { path: path === '' ? page : relative(root, join(root, dirname(page), path)), anchor };
}

/** Returns the README of a folder, which GitHub shows for it, or the path itself. */
const shownAt = (path: string) =>
  existsSync(join(root, path, 'README.md')) ? join(path, 'README.md') : path;

describe('the pages', () => {
  it.each(pages)('%s: every link leads to an existing file and anchor', (page) => {
    const broken = linksOf(textOf(page)).filter((link) => {
      if (!isLocal(link)) return false;
      const { path, anchor } = targetOf(page, link);
      if (!existsSync(join(root, path))) return true;
      return anchor !== undefined && !anchorsOf(readFileSync(join(root, path), 'utf8')).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  it('are all reachable from the README', () => {
    const reached = new Set(['README.md']);
    for (const page of reached) {
      if (!pages.includes(page)) continue;
      for (const link of linksOf(textOf(page)))
        if (isLocal(link)) reached.add(shownAt(targetOf(page, link).path));
    }
    expect(pages.filter((page) => !reached.has(page))).toEqual([]);
  });

  it('are all listed in docs/README.md', () => {
    const listed = linksOf(textOf('docs/README.md')).map((link) => targetOf('docs/README.md', link).path);
    const wanted = pages.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');
    expect(wanted.filter((page) => !listed.includes(page))).toEqual([]);
  });

  it('have the same name in docs/README.md as in their heading', () => {
    const rows = [...textOf('docs/README.md').matchAll(/^\| \[([^\]]+)\]\(([^)]+\.md)\)/gm)];
    const named = rows.map(([, name, link = '']) => [targetOf('docs/README.md', link).path, name]);
    expect(named).toEqual(named.map(([page = '']) => [page, /^# (.+)$/m.exec(textOf(page))?.[1]]));
  });
});

describe('the installed package', () => {
  const pack = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const listed = execFileSync('npm', pack, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [{ files: packed }] = JSON.parse(listed) as [{ files: { path: string }[] }];
  const files = packed.map(({ path }) => path);

  it('contains the README, the skill and the JSON schemas, but no other page', () => {
    const inDocs = files.filter((path) => path.startsWith('docs/') || path.endsWith('.md'));
    const schemas = readdirSync(join(root, 'docs/schemas')).map((name) => `docs/schemas/${name}`);
    expect(inDocs.sort()).toEqual(
      ['README.md', 'skills/rungate/SKILL.md', 'docs/rungate.schema.json', ...schemas].sort(),
    );
  });

  it('contains every file that the help or a message names', () => {
    const code = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const withoutComments = (name: string) =>
      readFileSync(join(root, 'src', name), 'utf8').replace(/^\s*(\/\/|\/?\*).*$/gm, '');
    const texts = code.map(withoutComments).join('\n');
    // A message names a page of the repository by its URL.
    const page = /docsPage\('([^']+)'\)/g;
    const names = [...texts.replaceAll(page, '').matchAll(/\bdocs\/[\w./-]+|\b[\w-]+\.md\b/g)].map(
      ([path]) => path,
    );
    expect([...texts.matchAll(page)].filter(([, path = '']) => !pages.includes(path))).toEqual([]);
    expect(names).toContain('docs/rungate.schema.json');
    expect([...new Set(names)].filter((path) => !files.some((file) => file.endsWith(path)))).toEqual([]);
  });
});

/** Returns the files of the project that a page names as code; `gate/poll.ts` is below src. */
const filesNamedIn = (text: string) =>
  [...text.matchAll(/`((?:[\w.-]+\/)+[\w.-]*)`/g)].map((match) => match[1] ?? '');
/** Files that are not in the repository: they are built, or belong to another project. */
const elsewhere = /^(dist\/|node_modules\/|ci\/(gate|loop)\.sh$)/;

it.each(['docs/project/architecture.md', 'SECURITY.md', 'CONTRIBUTING.md', 'AGENTS.md'])(
  '%s names only existing files',
  (page) => {
    const names = filesNamedIn(textOf(page)).filter((name) => !elsewhere.test(name));
    expect(names).not.toEqual([]);
    const exists = (name: string) => existsSync(join(root, name)) || existsSync(join(root, 'src', name));
    expect(names.filter((name) => !exists(name))).toEqual([]);
  },
);

it('docs/project/architecture.md lists every folder of src', () => {
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  expect(folders).not.toEqual([]);
  const text = textOf('docs/project/architecture.md');
  expect(folders.map(({ name }) => `\`src/${name}/\``).filter((name) => !text.includes(`| ${name}`))).toEqual(
    [],
  );
});

it('every npm script that a page names exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const names = pages.flatMap((page) =>
    [...textOf(page).matchAll(/\bnpm (?:run )?(test|(?<=run )[\w:-]+)/g)].map((match) => match[1] ?? ''),
  );
  expect(names).toContain('test');
  expect(names.filter((name) => !(name in scripts))).toEqual([]);
});
