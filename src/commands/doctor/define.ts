import type { Command } from 'commander';
import { type Bind, examples } from '../binding.ts';
import { doctorCommand } from './doctor.ts';

export function defineDoctor(command: Command, bind: Bind): void {
  command.description(
    'Check settings, CI, workflows, proxy, DNS, TLS, clock and credentials, and suggest fixes. It changes nothing. Exits with 0, or with the exit code of the first failed check. The output never contains secrets, so you can attach the output of --json to a bug report.',
  );
  examples(command, 'rungate doctor', 'rungate doctor --json  # for a bug report');
  bind(command, {
    showsUnreadable: true,
    run: (context) => doctorCommand(context),
  });
}
