import type { Io } from '../../host/io.ts';
import { parseUrl } from '../../parse-url.ts';

/** Terminals by TERM_PROGRAM, and the first version of each that supports links. */
const programs: Readonly<Record<string, readonly number[]>> = {
  'iTerm.app': [3, 1],
  WezTerm: [20_200_620],
  vscode: [1, 72],
  // tmux passes links on to a terminal that supports them and drops them otherwise.
  tmux: [3, 4],
  ghostty: [],
  WarpTerminal: [],
  zed: [],
  Hyper: [],
  Tabby: [],
  mintty: [3],
  rio: [],
};

const terms = /^(alacritty|xterm-kitty|xterm-ghostty|foot|contour|wezterm|rio)/;

function isAtLeast(version: string, least: readonly number[]): boolean {
  const parts = version.split(/[.-]/).map((part) => Number.parseInt(part, 10) || 0);
  for (const [index, wanted] of least.entries()) {
    const have = parts[index] ?? 0;
    if (have !== wanted) return have > wanted;
  }
  return true;
}

/**
 * Whether the environment shows that the terminal supports OSC 8 links. If in doubt, it does not: some terminals print
 * unknown sequences. The package `supports-hyperlinks` reads the environment of the process, not the one passed in.
 */
export function supportsLinks(env: Io['env']): boolean {
  const forced = env.FORCE_HYPERLINK;
  if (forced !== undefined && forced !== '') return Number.parseInt(forced, 10) !== 0;
  if (env.TERM === 'dumb' || env.TERM === 'linux') return false;
  const inTmux = env.TMUX !== undefined && env.TMUX !== '';
  const multiplexed = inTmux || env.STY !== undefined || /^(screen|tmux)/.test(env.TERM ?? '');
  const program = env.TERM_PROGRAM ?? '';
  // In a multiplexer, the variables of the outer terminal are still set, but the multiplexer decides.
  if (multiplexed && program !== 'tmux') return false;
  const least = Object.hasOwn(programs, program) ? programs[program] : undefined;
  if (least !== undefined) return isAtLeast(env.TERM_PROGRAM_VERSION ?? '', least);
  if (env.WT_SESSION !== undefined && env.WT_SESSION !== '') return true;
  // Both are one number: 5202 for VTE 0.52.2 (0.50.0 crashed on links), 200400 for Konsole 20.04.
  if (Number.parseInt(env.VTE_VERSION ?? '', 10) > 5000) return true;
  if (Number.parseInt(env.KONSOLE_VERSION ?? '', 10) >= 200_400) return true;
  if (env.DOMTERM !== undefined || env.KITTY_WINDOW_ID !== undefined) return true;
  return terms.test(env.TERM ?? '');
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
