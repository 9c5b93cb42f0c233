import type { Io } from '../../host/io.ts';
import { parseUrl } from '../../parse-url.ts';

/** The terminals that support links, by TERM_PROGRAM and by TERM. tmux passes them on to one that does. */
const programs = ['iTerm.app', 'WezTerm', 'vscode', 'tmux', 'ghostty', 'WarpTerminal', 'zed', 'mintty'];
const terms = /^(alacritty|xterm-kitty|xterm-ghostty|foot|wezterm)/;

/**
 * Whether the environment shows that the terminal supports OSC 8 links. If in doubt, it does not: some terminals print
 * unknown sequences. The package `supports-hyperlinks` reads the environment of the process, not the one passed in.
 */
export function supportsLinks(env: Io['env']): boolean {
  const { FORCE_HYPERLINK: forced, TERM = '', TERM_PROGRAM: program = '' } = env;
  if (forced !== undefined && forced !== '') return forced !== '0';
  if (TERM === 'dumb' || TERM === 'linux') return false;
  // In a multiplexer, the variables of the outer terminal are still set, but the multiplexer decides.
  const multiplexed = env.TMUX || env.STY || /^(screen|tmux)/.test(TERM);
  if (multiplexed && program !== 'tmux') return false;
  // VTE 0.50.0 (5000) crashed on links.
  const isVte = Number.parseInt(env.VTE_VERSION ?? '', 10) > 5000;
  return programs.includes(program) || terms.test(TERM) || isVte || Boolean(env.WT_SESSION);
}

/** Returns the URL if a terminal may open it (http or https, visible ASCII, at most 2000 characters), else null. */
export function linkTarget(url: string): string | null {
  if (!/^https?:\/\//i.test(url) || /[\u0000-\u0020\u007f-\u00a0]/.test(url)) return null;
  const href = parseUrl(url)?.href ?? '';
  return href.length <= 2000 && /^https?:\/\/[\x21-\x7e]+$/.test(href) ? href : null;
}

/** Returns the text as a link to the URL, or unchanged if the URL may not be opened. */
export function hyperlink(url: string, text: string): string {
  const target = linkTarget(url);
  return target === null ? text : `\u001b]8;;${target}\u001b\\${text}\u001b]8;;\u001b\\`;
}
