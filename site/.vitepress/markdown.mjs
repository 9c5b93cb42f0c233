import { existsSync, statSync } from 'node:fs';
import { basename, join, posix } from 'node:path';
import { addressOf, isPage } from './pages.mjs';

/** Returns the anchor of a heading by GitHub's rule, so that a link works there and on the site. */
export const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

/** Shows raw HTML as text, hides comments, and keeps Vue from interpreting `{{ }}`. */
export function plainText(md) {
  const { rules } = md.renderer;
  const html = (tokens, at) => md.utils.escapeHtml(tokens[at].content.replace(/<!--.*?-->/gs, ''));
  rules.html_block = rules.html_inline = html;
  for (const name of ['text', 'code_inline', 'html_block', 'html_inline']) {
    const rule = rules[name];
    rules[name] = (...args) => rule(...args).replaceAll('{{', '&#123;&#123;');
  }
}

/**
 * Resolves relative links: to a page of the site, to a file in docs/, which `files` collects, or to a file of the repository.
 * While the address of the repository is unknown, the latter is not a link. A link whose text is a file name shows the title.
 */
export function relativeLinks(md, { root, base, source, titles, files }) {
  const sources = new Map([...titles.keys()].map((path) => [addressOf(path), path]));

  const { link_open: linkOpen } = md.renderer.rules;
  md.renderer.rules.link_open = (tokens, at, options, env, self) => {
    resolve(sources.get(env.relativePath) ?? env.relativePath, tokens, at);
    return linkOpen(tokens, at, options, env, self);
  };

  function resolve(page, tokens, at) {
    const open = tokens[at];
    const href = open.attrGet('href');
    if (/^([a-z]+:|#)/i.test(href)) return;
    const [, file, anchor] = /^([^#]*)(.*)$/.exec(decodeURI(href));
    const place = posix.join(posix.dirname(page), file, '.');
    const path = existsSync(join(root, place, 'README.md')) ? posix.join(place, 'README.md') : place;
    if (!existsSync(join(root, path))) throw new Error(`${page}: broken link: ${href}`);
    if (tokens[at + 1].content === basename(path))
      tokens[at + 1].content = titles.get(path) ?? basename(path);
    if (isPage(path) && titles.has(path)) {
      open.attrSet('href', `/${addressOf(path)}${anchor}`);
    } else if (path.startsWith('docs/') && statSync(join(root, path)).isFile()) {
      files.add(path);
      open.attrSet('href', `${base}${addressOf(path)}`);
      open.attrSet('target', '_self');
    } else if (source !== '') {
      open.attrSet('href', `${source}/${path}`);
    } else {
      open.tag = tokens.find(({ type }, i) => i > at && type === 'link_close').tag = 'span';
      open.attrs = [['title', `${path} in the repository of rungate`]];
    }
  }
}

/** A longer word of inline code may break, so that it fits on a narrow screen. */
const longestWhole = 40;

/** Keeps the words of inline code on one line: browsers break `--timeout` after a dash. */
export function wholeWords(md) {
  const { code_inline: codeInline } = md.renderer.rules;
  md.renderer.rules.code_inline = (...args) =>
    codeInline(...args).replace(/(?<=>)[^<]+(?=<\/code>)/, (text) =>
      text.replace(/\S+/g, (word) =>
        word.length > longestWhole ? word : `<span class="whole">${word}</span>`,
      ),
    );
}

/**
 * Tells the commands of a console from their output, which has no colours. A command begins with `$`, and goes on after a
 * backslash. The copy button leaves out what has the class `vp-copy-ignore`.
 */
export const consoleLines = {
  name: 'console-lines',
  code(node) {
    if (this.options.lang !== 'console') return;
    let isCommand = false;
    let goesOn = false;
    node.children = node.children.flatMap((line, at, all) => {
      if (line.type !== 'element') return [];
      const text = textOf(line);
      isCommand = goesOn || text.startsWith('$ ');
      goesOn = isCommand && text.endsWith('\\');
      const rest = all[at + 1] === undefined ? [] : [{ type: 'text', value: '\n' }];
      if (!isCommand) {
        line.children = [{ type: 'text', value: text }];
        return [span('output vp-copy-ignore', [line, ...rest])];
      }
      if (text.startsWith('$ '))
        line.children = [
          span('prompt vp-copy-ignore', [{ type: 'text', value: '$ ' }]),
          ...without(line.children, 2),
        ];
      return [span('command', [line, ...rest])];
    });
  },
};

const span = (classes, children) => ({
  type: 'element',
  tagName: 'span',
  properties: { class: classes },
  children,
});
const textOf = (node) => node.value ?? node.children.map(textOf).join('');

/** Returns nodes without the first characters of their text. */
function without(nodes, count) {
  const [first, ...others] = nodes;
  if (first === undefined || count === 0) return nodes;
  const { length } = textOf(first);
  if (length <= count) return without(others, count - length);
  const rest =
    first.type === 'text'
      ? { ...first, value: first.value.slice(count) }
      : { ...first, children: without(first.children, count) };
  return [rest, ...others];
}

/**
 * Makes tabs of what is between the comments `<!-- tabs -->` and `<!-- /tabs -->`. A tab starts at each heading of the same level
 * as the first, or at each line in bold. The markup is that of a code group, whose script switches the tabs.
 */
export function tabs(md) {
  md.renderer.rules.tabs = (tokens, at) => tokens[at].content;
  md.core.ruler.after('block', 'tabs', (state) => {
    const placeOf = (comment) => state.tokens.findIndex(({ content }) => content.trim() === comment);
    const markup = (content) => Object.assign(new state.Token('tabs', '', 0), { content });
    for (let group = 0; placeOf('<!-- tabs -->') !== -1; group += 1) {
      const start = placeOf('<!-- tabs -->');
      const length = placeOf('<!-- /tabs -->') - start + 1;
      if (length < 2) throw new Error(`${state.env.relativePath}: <!-- tabs --> without <!-- /tabs -->`);
      const inside = state.tokens.slice(start + 1, start + length - 1);
      const labels = [];
      const panels = inside.flatMap((token, at) => {
        const title = inside[at + 1]?.content ?? '';
        const isTitle = token.type === 'heading_open' || /^\*\*[^*]+\*\*$/.test(title);
        if (token.tag !== inside[0].tag || token.nesting !== 1 || token.level > 0 || !isTitle) return [token];
        const input = `<input type="radio" name="tabs-${group}" id="tab-${group}-${labels.length}"`;
        const text = md.utils.escapeHtml(title.replace(/\*\*|`/g, ''));
        const isFirst = labels.length === 0;
        labels.push(
          `${input}${isFirst ? ' checked' : ''}><label for="tab-${group}-${labels.length}">${text}</label>`,
        );
        token.attrJoin('class', 'tab-title');
        return [markup(isFirst ? '<div class="panel active">' : '</div><div class="panel">'), token];
      });
      const open = `<div class="vp-code-group"><div class="tabs">${labels.join('')}</div><div class="blocks">`;
      state.tokens.splice(start, length, markup(open), ...panels, markup('</div></div></div>'));
    }
  });
}
