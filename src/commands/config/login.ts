import type { Command } from 'commander';
import type { Bind } from '../binding.ts';
import { examples } from '../examples.ts';
import type { LoginFlags } from './login-secret.ts';

/** `rungate login` */
export function defineLogin(command: Command, bind: Bind): void {
  command
    .description(
      'Keep a secret in your profile, for this machine. It is asked for without being shown, or read from standard input; nothing is sent.',
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
    'printf %s "$RUNGATE_API_KEY" | rungate login --api-url https://api.example.com',
  );
  bind(command, {
    newProfile: true,
    run: async (context, _args, flags: LoginFlags) =>
      (await import('./login-secret.ts')).loginCommand(context, flags),
  });
}
