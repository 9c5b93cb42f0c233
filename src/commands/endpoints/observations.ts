import type { Command } from 'commander';
import { observations } from '../../contract/observations.ts';
import type { Bind } from '../binding.ts';
import { deriveCommands } from './derive.ts';

/** `rungate observations …` */
export function defineObservations(group: Command, bind: Bind): void {
  deriveCommands(group, bind, observations);
}
