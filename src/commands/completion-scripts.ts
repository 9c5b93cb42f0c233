import { bashScript } from './completion-bash.ts';
import { fishScript } from './completion-fish.ts';
import type { Shell } from './completion-shells.ts';
import { zshScript } from './completion-zsh.ts';

export const scripts: Readonly<Record<Shell, string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};
