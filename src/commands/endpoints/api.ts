import type { Command } from 'commander';
import type { Bind } from '../binding.ts';
import { completes } from '../completion/completes.ts';
import { examples } from '../examples.ts';
import { collect } from '../run/wait-flags.ts';
import type { ApiFlags } from './api-call.ts';

/** `rungate api <method> <path>` */
export function defineApiCommand(command: Command, bind: Bind): void {
  command
    .argument('<method>', 'GET, POST, PUT, PATCH or DELETE')
    .argument('<path>', 'the path below the base URL, with its query: /api/environments?page=2')
    .usage('[options] <method> <path>')
    .optionsGroup('Options:')
    .option('--field <name=value>', 'a field of the body, as text (repeatable)', collect)
    .option('--json-field <name=json>', 'a field of the body, as JSON (repeatable)', collect)
    .option('--input <file>', 'the body as a JSON file, - for standard input')
    .option('--idempotency-key <key>', 'makes a POST safe to send again, where the service takes one');
  completes(command, 'path', { from: 'api-paths' });
  completes(command, 'method', { from: 'api-methods' });
  examples(command, 'rungate api GET "/api/environments?page=2"');
  bind(command, {
    run: async (context, [method, path], flags: ApiFlags) =>
      (await import('./api-call.ts')).apiCommand(context, String(method), String(path), flags),
  });
}
