import type { Command } from 'commander';
import { webhooks } from '../contract/webhooks.ts';
import type { Bind } from './bind.ts';
import { deriveCommands } from './derive.ts';

/** `rungate webhooks …` */
export function defineWebhooks(group: Command, bind: Bind): void {
  deriveCommands(group, bind, webhooks);
}
