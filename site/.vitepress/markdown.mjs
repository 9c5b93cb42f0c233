import { existsSync, statSync } from 'node:fs';
import { basename, extname, join, posix } from 'node:path';
import { addressOf } from './pages.mjs';

/** Returns the anchor of a heading by GitHub's rule, so that a link works there and on the site. */
export const anchorOf = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

/** Shows raw HTML as text, hides comments, and keeps Vue from interpreting `{{ }}`. */
export function plainText(md) {
  const { rules } = md.renderer;
  const withoutBraces =
    (rule) =>
    (...args) =>
      rule(...args).replaceAll('{{', '&#123;&#123;');
  const html = (tokens, at) => md.utils.escapeHtml(tokens[at].content.replace(/<!--.*?-->/gs, ''));
  rules.text = withoutBraces(rules.text);
  rules.code_inline = withoutBraces(rules.code_inline);
  rules.html_block = rules.html_inline = withoutBraces(html);
}

/**
 * Resolves relative links: to a page of the site, to a file in docs/, which `linked` collects, or to a file of the repository.
 * While the address of the repository is unknown, the latter is not a link. A link whose text is a file name shows the title.
 */
export function relativeLinks(md, { root, base, source, pages, titles, linked }) {
  const sources = new Map(pages.map((path) => [addressOf(path), path]));

  const resolve = (page, children, at) => {
    const open = children[at];
    const href = open.attrGet('href');
    if (/^([a-z]+:|#)/i.test(href)) return;
    const [file, anchor] = decodeURI(href).split('#');
    const named = posix.join(posix.dirname(page), file).replace(/\/$/, '');
    const path = existsSync(join(root, named, 'README.md')) ? `${named}/README.md` : named;
    const place = join(root, path);
    const text = children[at + 1];
    if (basename(path) === text.content) text.content = titles.get(path) ?? text.content;
    if (pages.includes(path)) {
      open.attrSet('href', `/${addressOf(path)}${anchor === undefined ? '' : `#${anchor}`}`);
    } else if (!existsSync(place)) {
      throw new Error(`${page}: broken link: ${href}`);
    } else if (path.startsWith('docs/') && statSync(place).isFile() && extname(path) !== '.md') {
      linked.add(path);
      open.attrs = [
        ['href', `${base}${addressOf(path)}`],
        ['target', '_self'],
      ];
    } else if (source === '') {
      const close = children.find((token, i) => i > at && token.type === 'link_close');
      open.tag = close.tag = 'span';
      open.attrs = [['title', `${path} in the repository of rungate`]];
    } else {
      open.attrSet('href', `${source}/${path}`);
    }
  };

  md.core.ruler.after('inline', 'relative-links', ({ tokens, env }) => {
    const page = sources.get(env.relativePath) ?? env.relativePath;
    for (const { children } of tokens) {
      children?.forEach((token, at) => {
        if (token.type === 'link_open') resolve(page, children, at);
      });
    }
  });
}

/**
 * Makes tabs of what is between the comments `<!-- tabs -->` and `<!-- /tabs -->`. A tab starts at each heading of the same level
 * as the first, or at each line in bold. The markup is that of a code group, whose script switches the tabs.
 */
export function tabs(md) {
  md.renderer.rules.tabs = (tokens, at) => tokens[at].content;
  md.core.ruler.after('block', 'tabs', (state) => {
    const isComment = (token, text) => token.type === 'html_block' && token.content.trim() === text;
    const markup = (content) => Object.assign(new state.Token('tabs', '', 0), { content });
    for (let group = 0; ; group += 1) {
      const start = state.tokens.findIndex((token) => isComment(token, '<!-- tabs -->'));
      if (start === -1) return;
      const end = state.tokens.findIndex((token, at) => at > start && isComment(token, '<!-- /tabs -->'));
      if (end === -1) throw new Error(`${state.env.relativePath}: <!-- tabs --> without <!-- /tabs -->`);
      const inside = state.tokens.slice(start + 1, end);
      const { tag } = inside[0];
      const labels = [];
      const panels = inside.flatMap((token, at) => {
        const title = inside[at + 1]?.content ?? '';
        const isHeading = token.type === 'heading_open';
        const isTitle =
          token.level === 0 && token.tag === tag && (isHeading || /^\*\*[^*]+\*\*$/.test(title));
        if (!isTitle || token.nesting !== 1) return [token];
        const id = `tab-${group}-${labels.length}`;
        const isFirst = labels.length === 0;
        const text = md.utils.escapeHtml(title.replace(/\*\*|`/g, ''));
        const input = `<input type="radio" name="tabs-${group}" id="${id}"${isFirst ? ' checked' : ''}>`;
        labels.push(`${input}<label for="${id}">${text}</label>`);
        token.attrJoin('class', 'tab-title');
        return [markup(isFirst ? '<div class="panel active">' : '</div><div class="panel">'), token];
      });
      const open = `<div class="vp-code-group"><div class="tabs">${labels.join('')}</div><div class="blocks">`;
      state.tokens.splice(start, end - start + 1, markup(open), ...panels, markup('</div></div></div>'));
    }
  });
}
