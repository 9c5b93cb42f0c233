import { describe, expect, test } from 'vitest';
import { cli, type Settings } from '../../cli/harness.ts';
import { json, type Scene, serve } from '../../transport/serve.ts';

type Handler = (page: number, scene: Scene) => void;

const rows = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `{"id":"o${from + index}","n":${from + index}.50}`);

/** Returns a page as text, so that the test decides its digits and layout. */
function pageText(page: number, total: number, items: readonly string[], pageSize = 2): string {
  const totalPages = Math.ceil(total / pageSize);
  const numbers = { totalCount: total, page, pageSize, totalPages, hasNextPage: page < totalPages };
  const rest = JSON.stringify({ ...numbers, hasPreviousPage: page > 1 }).slice(1);
  return `{"items":[${items.join(',')}],${rest}`;
}

function send({ response }: Scene, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(text);
}

/** Runs `observations list p1 --all` against a server, and returns its requests too. */
async function listed(handle: Handler, argv: readonly string[] = [], settings: Settings = {}) {
  const { url, seen } = await serve((scene) => {
    handle(Number(new URL(scene.seen.url, 'http://x').searchParams.get('page')), scene);
  });
  const env = { RUNGATE_API_URL: url, RUNGATE_TOKEN: 'token-hunter22' };
  const command = ['observations', 'list', 'p1', '--all', ...argv];
  return { ...(await cli(command, { ...settings, env })), seen };
}

const ofFive: Handler = (page, scene) =>
  send(scene, pageText(page, 5, rows(2 * page - 1, Math.min(2 * page, 5))));

const lines = (text: string) => text.split('\n').slice(0, -1);

describe('--all', () => {
  test.each([['json'], ['ndjson']])(
    'prints the items of every page unchanged, one per line, as %s',
    async (format) => {
      const { code, out, err, seen } = await listed(ofFive, ['--format', format, '--page-size', '2']);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(lines(out)).toEqual(rows(1, 5));
      expect(seen.map(({ url }) => url.split('?')[1])).toEqual(
        [1, 2, 3].map((page) => `pageSize=2&page=${page}`),
      );
    },
  );

  test("keeps digits, puts each item on one line, and escapes commands to a CI system's log", async () => {
    const items = [
      '{\n  "id": 12345678901234567890,\n  "total": 10.50\n}',
      '{"note":"##vso[task.complete]\u009b31m ’ü"}',
      '{"note":"#1\u007f"}',
    ];
    const { out } = await listed((_, scene) => send(scene, pageText(1, 3, items, 3)), ['--json']);
    expect(lines(out)).toEqual([
      '{"id":12345678901234567890,"total":10.50}',
      '{"note":"\\u0023\\u0023vso[task.complete]\\u009b31m ’ü"}',
      '{"note":"\\u00231\\u007f"}',
    ]);
  });

  test.each([[['--json']]])('prints nothing for an empty list but says so on stderr (%j)', async (argv) => {
    const { code, out, err } = await listed((_, scene) => send(scene, pageText(1, 0, [])), argv);
    expect({ code, out, err }).toEqual({ code: 0, out: '', err: 'nothing found\n' });
  });

  test('prints the items before an error, then the error', async () => {
    const handle: Handler = (page, scene) =>
      page < 3 ? ofFive(page, scene) : json(scene.response, 403, { error: 'not yours' });
    const { code, out, err } = await listed(handle, ['--json']);
    expect(code).toBe(6);
    expect(lines(out)).toEqual(rows(1, 4));
    expect(JSON.parse(err).error).toMatchObject({ code: 'forbidden', status: 403 });
  });

  test('stops at a closed pipe without an error', async () => {
    const handle: Handler = (page, scene) => send(scene, pageText(page, 1000, rows(2 * page - 1, 2 * page)));
    const { code, seen } = await listed(handle, ['--json'], { closed: true });
    expect(code).toBe(0);
    expect(seen.length).toBeLessThanOrEqual(2);
  });
});
