import type { Command } from 'commander';
import { env } from '../../contract/env.ts';
import { keys, knownScopes } from '../../contract/keys.ts';
import { observations } from '../../contract/observations.ts';
import { orders } from '../../contract/orders.ts';
import { type Bind, examples, note } from '../binding.ts';
import { completes } from '../completion/completes.ts';
import { noList } from '../no-list.ts';
import { collect } from '../options.ts';
import { type ApiFlags, apiCommand, methods } from './api-call.ts';
import { addBodyFlags, deriveCommands } from './derive.ts';
import { type PruneFlags, pruneCommand, usualAge } from './env-prune.ts';
import { type CreateKeyFlags, createKeyCommand } from './keys-create.ts';
import { summaryCommand } from './orders-summary.ts';

export function defineOrders(group: Command, bind: Bind): void {
  deriveCommands(group, bind, orders, {
    'orders.summary': (command, tie) => {
      command.option(
        '--verify',
        'compare with the exact sum of the orders: exit 1 if they differ, 3 if the orders keep changing',
      );
      examples(command, 'rungate orders summary --verify');
      tie(command, { run: (context, _args, flags: { verify?: boolean }) => summaryCommand(context, flags) });
    },
  });
}

export function defineEnv(group: Command, bind: Bind): void {
  deriveCommands(group, bind, env);
  const prune = group
    .command('prune')
    .summary('delete the environments that stopped gates have left')
    .description(
      'Delete the environments that rungate gate --base-url created and could not delete. Nothing else is deleted: key and name must have the form that only rungate gives. This cannot be undone; it needs a confirmation or --yes.\nCredential: a bearer token (RUNGATE_TOKEN).',
    )
    .option(
      '--older-than <duration>',
      `minimum age: the runs of a younger one may go on (default ${usualAge})`,
    )
    .option('-y, --yes', 'skip the confirmation');
  examples(prune, 'rungate env prune --older-than 1d --yes');
  bind(prune, {
    run: (context, _args, flags: PruneFlags) => pruneCommand(context, flags),
  });
}

export function defineObservations(group: Command, bind: Bind): void {
  deriveCommands(group, bind, observations);
}

/** Returns the known scopes, with those of one area in a line. */
function scopeLines(): string[] {
  const areas = new Map<string, string[]>();
  for (const scope of knownScopes) {
    const [area = ''] = scope.split(':');
    areas.set(area, [...(areas.get(area) ?? []), scope]);
  }
  return [...areas.values()].map((scopes) => `  ${scopes.join('  ')}`);
}

export function defineKeys(group: Command, bind: Bind): void {
  note(group, noList.keys);
  deriveCommands(group, bind, keys, {
    'keys.create': (command, tie) => {
      command
        .option('--name <name>', 'name of the key')
        .option('--scope <scope>', 'scope of the key (repeatable; default: scopes for automation)', collect)
        .option('--output-file <file>', 'new file for the token, readable only by you')
        .addHelpText('after', `\nKnown scopes (others are accepted):\n${scopeLines().join('\n')}`);
      completes(command, '--scope', knownScopes);
      examples(command, 'rungate keys create --name ci --scope ci:trigger --scope ci:status');
      tie(command, { run: (context, _args, flags: CreateKeyFlags) => createKeyCommand(context, flags) });
    },
  });
}

export function defineApiCommand(command: Command, bind: Bind): void {
  command
    .argument('<method>', 'GET, POST, PUT, PATCH or DELETE')
    .argument('<path>', 'the path below the base URL, with its query: /api/environments?page=2')
    .usage('[options] <method> <path>')
    .optionsGroup('Options:');
  addBodyFlags(command).option(
    '--idempotency-key <key>',
    'key that makes a POST repeatable, if the endpoint accepts one',
  );
  completes(command, 'method', methods);
  examples(command, 'rungate api GET "/api/environments?page=2"');
  bind(command, {
    run: (context, [method, path], flags: ApiFlags) =>
      apiCommand(context, String(method), String(path), flags),
  });
}
