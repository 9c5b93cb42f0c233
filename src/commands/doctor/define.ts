import type { Command } from 'commander';
import { type Bind, examples } from '../binding.ts';

/** `rungate doctor` */
export function defineDoctor(command: Command, bind: Bind): void {
  command.description(
    'Look at settings, CI, proxy, DNS, TLS, clock and credentials, step by step, and say what is wrong and what to do. It changes nothing. Exits 0, or with the code of the first thing wrong; --json for a bug report, without secrets.',
  );
  examples(command, 'rungate doctor', 'rungate doctor --json  # for a bug report');
  bind(command, {
    showsUnreadable: true,
    run: async (context) => (await import('./doctor.ts')).doctorCommand(context),
  });
}
