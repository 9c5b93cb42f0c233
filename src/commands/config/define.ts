import type { Command } from 'commander';
import { fileIds, isFileId, rowOf, secretIds } from '../../options/table.ts';
import { type Bind, examples } from '../binding.ts';
import { type CompletionLine, completes } from '../completion/completes.ts';
import { setCommand, unsetCommand } from './change.ts';
import { type KindFlags, type LoginFlags, loginCommand, logoutCommand } from './login.ts';
import { getCommand, type ListFlags, listCommand, pathCommand } from './show.ts';

/** Returns the values of the setting on the line, if only some are possible. */
function valuesFor({ operands: [name = ''] }: CompletionLine): readonly string[] {
  if (!isFileId(name)) return [];
  const { type } = rowOf(name);
  return type.kind === 'switch' ? ['true', 'false'] : (type.words ?? []);
}

export function defineConfig(group: Command, bind: Bind): void {
  const list = group
    .command('list')
    .summary('show the settings and where they come from')
    .description(
      'Show the settings that something sets, and where they come from. Secrets are shown only as set.',
    )
    .option('--all', 'also show the settings with their defaults, as --json always does')
    .option('--ref <ref>', 'the branch or tag to show the settings for');
  examples(list, 'rungate config list', 'rungate config list --all');
  bind(list, { run: (context, _args, flags: ListFlags) => listCommand(context, flags) });

  const get = group
    .command('get')
    .summary('show one setting')
    .description('Show the value of one setting, whatever its source. Prints nothing if it is not set.')
    .argument('<name>', 'a setting, such as project or timeout')
    .option('--ref <ref>', 'the branch or tag to show the setting for');
  completes(get, 'name', [...fileIds, ...secretIds]);
  examples(get, 'rungate config get interval');
  bind(get, { run: (context, [name]) => getCommand(context, String(name)) });

  const set = group
    .command('set')
    .summary('save a setting in your profile')
    .description('Save a setting in your profile. For secrets, use rungate login.')
    .argument('<name>', 'a setting, such as project or timeout')
    .argument('<value>', 'the value; for tags smoke,nightly; for on cancelled=fail,timeout=warn');
  completes(set, 'name', fileIds);
  completes(set, 'value', valuesFor);
  examples(set, 'rungate config set project shop', 'rungate config set on cancelled=fail,timeout=warn');
  bind(set, {
    newProfile: true,
    changesProfile: true,
    run: (context, [name, value]) => setCommand(context, String(name), String(value)),
  });

  const unset = group
    .command('unset')
    .summary('remove a setting or a secret from your profile')
    .description('Remove a setting or a secret from your profile.')
    .argument('<name>', 'a setting, or apiKey, token, webhookSecrets, tenantSecret');
  completes(unset, 'name', [...fileIds, ...secretIds]);
  examples(unset, 'rungate config unset apiKey');
  bind(unset, { changesProfile: true, run: (context, [name]) => unsetCommand(context, String(name)) });

  const path = group
    .command('path')
    .summary('show where profiles are stored')
    .description('Show the path of the profiles file, whether it exists or not.');
  examples(path, 'rungate config path');
  bind(path, { newProfile: true, run: (context) => pathCommand(context) });
}

export function defineLogin(command: Command, bind: Bind): void {
  command
    .description(
      'Save a secret in your profile on this machine. rungate prompts for it without showing it, or reads it from standard input. It checks an API key or a token with the service and does not save one that the service refuses (exit code 6). If it cannot be checked, rungate saves it with a warning, unless it would replace another.',
    )
    .usage('[options]')
    .optionsGroup('Which secret:')
    .option('--api-key', 'an API key (the default)')
    .option('--token', 'the bearer token of a user session')
    .option(
      '--webhook-secret',
      'the secret that signs deliveries; during a rotation, several secrets, one per line',
    )
    .option('--tenant-secret', "the tenant's secret that signs deliveries")
    .optionsGroup('Options:')
    .option('--no-check', 'save an API key or a token without checking it');
  examples(
    command,
    'rungate login --api-url https://service.example.com  # prompts for the key',
    'printf %s "$RUNGATE_API_KEY" \\\n    | rungate login --api-url https://service.example.com',
  );
  bind(command, {
    newProfile: true,
    changesProfile: true,
    run: (context, _args, flags: LoginFlags) => loginCommand(context, flags),
  });
}

export function defineLogout(command: Command, bind: Bind): void {
  command
    .description(
      'Remove secrets from your profile: all of them, or those that you name. Settings remain, and nothing is sent: a key stays valid until you delete it with rungate keys delete.',
    )
    .usage('[options]')
    .optionsGroup('Which secrets (default: all):')
    .option('--api-key', 'the API key')
    .option('--token', 'the bearer token')
    .option('--webhook-secret', 'the webhook secrets')
    .option('--tenant-secret', 'the tenant secret');
  examples(command, 'rungate logout', 'rungate logout --token');
  bind(command, {
    changesProfile: true,
    run: (context, _args, flags: KindFlags) => logoutCommand(context, flags),
  });
}
