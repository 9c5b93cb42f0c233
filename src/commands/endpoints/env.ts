import type { Command } from 'commander';
import { env } from '../../contract/env.ts';
import type { Bind } from '../binding.ts';
import { deriveCommands } from './derive.ts';

/** `rungate env …` */
export function defineEnv(group: Command, bind: Bind): void {
  deriveCommands(group, bind, env);
}
