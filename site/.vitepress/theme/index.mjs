import { onContentUpdated } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import './style.css';

/** Opens the tab that contains the target of the address. */
function openTab() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const panel = target?.closest('.panel:not(.active)');
  if (!panel) return;
  const at = [...panel.parentElement.children].indexOf(panel);
  panel.closest('.vp-code-group').querySelectorAll('input')[at].click();
  target.scrollIntoView();
}

export default {
  extends: DefaultTheme,
  setup() {
    onContentUpdated(openTab);
    if (!import.meta.env.SSR) addEventListener('hashchange', openTab);
  },
};
