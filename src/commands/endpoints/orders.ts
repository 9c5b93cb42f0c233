import type { Command } from 'commander';
import { orders } from '../../contract/orders.ts';
import type { Bind } from '../binding.ts';
import { examples } from '../examples.ts';
import { deriveCommands } from './derive.ts';

/** `rungate orders …` */
export function defineOrders(group: Command, bind: Bind): void {
  deriveCommands(group, bind, orders, {
    'orders.summary': (command, tie) => {
      command.option(
        '--verify',
        'add the orders up exactly and compare: exit 1 when they do not add up, 3 when they keep changing',
      );
      examples(command, 'rungate orders summary --verify');
      tie(command, {
        run: async (context, _args, flags: { verify?: boolean }) =>
          (await import('./orders-summary.ts')).summaryCommand(context, flags),
      });
    },
  });
}
