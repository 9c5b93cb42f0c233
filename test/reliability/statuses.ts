import type { Fault } from '../../src/mock/faults/faults.ts';
import { type Played, play } from './scene.ts';

const checkout = ['--project', 'shop', '--process', 'checkout'];
const commands = {
  gate: () => ['gate', ...checkout, '--timeout', '10m'],
  'run wait': (id: string) => ['run', 'wait', id, '--timeout', '10m'],
};
const columns = (['gate', 'run wait'] as const).flatMap((command) =>
  (['first', 'second'] as const).map((read) => ({ command, read })),
);

export const statusHead = ['response', ...columns.map(({ command, read }) => `\`${command}\`, ${read} read`)];

const statuses = [200, 302, 401, 403, 404, 422, 429, 503];
const bodies = { JSON: { error: 'Refused' }, HTML: '<!doctype html><title>Portal</title>' };

const minutes = (ms: number) =>
  ms >= 100_000 ? `${Math.round(ms / 6000) / 10} min` : `${Math.round(ms / 100) / 10} s`;
const cellText = ({ code, elapsedMs }: Played) => `**${code}**, ${minutes(elapsedMs)}`;

/** Plays each status code as the response to one status read, and to all from then on. */
export async function statusRows(): Promise<string[][]> {
  const rows: string[][] = [];
  for (const status of statuses)
    for (const [name, body] of Object.entries(bodies))
      for (const retryAfter of [false, true]) {
        const headers = {
          ...(status === 302 && { location: 'https://portal.invalid' }),
          ...(retryAfter && { 'retry-after': '20' }),
        };
        const cells = columns.map(async ({ command, read }) => {
          const played = [1, Number.POSITIVE_INFINITY].map((times) => {
            const when = { endpoint: 'run.status', skip: read === 'first' ? 0 : 1, times } as const;
            const fault: Fault = { kind: 'status', status, body, headers, ...when };
            return play(commands[command], [fault], { endpoint: 'run.status' });
          });
          return (await Promise.all(played)).map(cellText).join('; ');
        });
        const title = `${status}, ${name}${retryAfter ? ', `Retry-After`' : ''}`;
        rows.push([title, ...(await Promise.all(cells))]);
      }
  return rows;
}
