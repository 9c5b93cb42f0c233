import type { Command } from 'commander';
import { type Bind, examples } from '../binding.ts';
import { completes } from '../completion/completes.ts';
import type { LoginFlags } from './login.ts';
import type { KindFlags } from './secret-options.ts';

/** `rungate config …` */
export function defineConfig(group: Command, bind: Bind): void {
  const list = group
    .command('list')
    .summary('show every setting and where it comes from')
    .description('Show every setting and where it comes from. Secrets are shown as set or not set.')
    .option('--ref <ref>', 'as it is for this branch or tag');
  examples(list, 'rungate config list');
  bind(list, {
    run: async (context) => (await import('./show.ts')).listCommand(context),
  });

  const get = group
    .command('get')
    .summary('show one setting')
    .description('Show the value of one setting, from wherever it comes; nothing when it is not set.')
    .argument('<name>', 'a setting, such as project or timeout')
    .option('--ref <ref>', 'as it is for this branch or tag');
  completes(get, 'name', { from: 'settings' });
  examples(get, 'rungate config get interval');
  bind(get, {
    run: async (context, [name]) => (await import('./show.ts')).getCommand(context, String(name)),
  });

  const set = group
    .command('set')
    .summary('keep a setting in your profile')
    .description('Keep a setting in your profile. Secrets are kept by rungate login.')
    .argument('<name>', 'a setting, such as project or timeout')
    .argument('<value>', 'a list with commas: smoke,nightly; on: cancelled=fail,timeout=warn');
  completes(set, 'name', { from: 'plain-settings' });
  completes(set, 'value', { from: 'setting-values' });
  examples(set, 'rungate config set project shop', 'rungate config set on cancelled=fail,timeout=warn');
  bind(set, {
    newProfile: true,
    changesProfile: true,
    run: async (context, [name, value]) =>
      (await import('./change.ts')).setCommand(context, String(name), String(value)),
  });

  const unset = group
    .command('unset')
    .summary('take a setting or a secret out of your profile')
    .description('Take a setting or a secret out of your profile.')
    .argument('<name>', 'a setting, or apiKey, token, webhookSecrets, tenantSecret');
  completes(unset, 'name', { from: 'settings' });
  examples(unset, 'rungate config unset apiKey');
  bind(unset, {
    changesProfile: true,
    run: async (context, [name]) => (await import('./change.ts')).unsetCommand(context, String(name)),
  });

  const path = group
    .command('path')
    .summary('show where profiles are kept')
    .description('Show the path of the file of profiles, whether it is there or not.');
  examples(path, 'rungate config path');
  bind(path, {
    newProfile: true,
    run: async (context) => (await import('./show.ts')).pathCommand(context),
  });
}

/** `rungate login` */
export function defineLogin(command: Command, bind: Bind): void {
  command
    .description(
      'Keep a secret in your profile, for this machine. It is asked for without being shown, or read from standard input. An API key or a token is checked with the service: one that is refused is not kept (exit code 6); if the service cannot be reached, it is kept with a warning.',
    )
    .usage('[options]')
    .optionsGroup('Which secret:')
    .option('--api-key', 'an API key (the default)')
    .option('--token', 'the bearer token of a user session')
    .option('--webhook-secret', 'what deliveries are signed with; several, one in a line, during rotation')
    .option('--tenant-secret', 'what the tenant signs deliveries with');
  examples(
    command,
    'rungate login --api-url https://service.example.com  # asks for the key',
    'printf %s "$RUNGATE_API_KEY" \\\n    | rungate login --api-url https://service.example.com',
  );
  bind(command, {
    newProfile: true,
    changesProfile: true,
    run: async (context, _args, flags: LoginFlags) =>
      (await import('./login.ts')).loginCommand(context, flags),
  });
}

/** `rungate logout` */
export function defineLogout(command: Command, bind: Bind): void {
  command
    .description(
      'Remove secrets from your profile: all of them, or those that you name. Settings stay, and nothing is sent: a key stays valid until it is deleted with rungate keys delete.',
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
    run: async (context, _args, flags: KindFlags) =>
      (await import('./logout.ts')).logoutCommand(context, flags),
  });
}
