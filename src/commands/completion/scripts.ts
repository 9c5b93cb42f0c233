import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import type { Shell } from './shells.ts';
import { zshScript } from './zsh.ts';

export const scripts: Readonly<Record<Shell, string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};
