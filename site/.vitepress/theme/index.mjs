import { onContentUpdated, withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import './style.css';

/** Opens the tab that contains the target of the address. */
function openTab() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const panel = target?.closest('.panel:not(.active)');
  if (!panel) return;
  const at = [...panel.parentElement.children].indexOf(panel);
  panel.closest('.vp-code-group').querySelectorAll('input')[at].click();
  // In the next frame, the router scrolls to where the hidden target was.
  requestAnimationFrame(() => target.scrollIntoView());
}

/** Unlike the page of the theme, this one has a landmark. */
const notFound = () =>
  h('main', { class: 'vp-doc', style: 'margin: 64px auto; max-width: 640px; padding: 0 24px' }, [
    h('h1', 'Page not found'),
    h('p', ['Search for the page, or start from the ', h('a', { href: withBase('/') }, 'index'), '.']),
  ]);

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'not-found': notFound }),
  setup() {
    onContentUpdated(openTab);
    if (!import.meta.env.SSR) addEventListener('hashchange', openTab);
  },
};
