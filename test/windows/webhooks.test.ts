import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderWithSpace, rungate } from './windows.ts';

const folder = folderWithSpace();
const secret = 'whsec_windows';
const timestamp = '2026-01-15T11:58:00.000Z';
const sign = (body: string) => createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
const around = { cwd: folder, env: { RUNGATE_WEBHOOK_SECRET: secret } };
const verify = ['webhooks', 'verify'];

const bodies: [kind: string, body: string][] = [
  ['LF', '{\n  "run": "run_1"\n}\n'],
  ['CRLF', '{\r\n  "run": "run_1"\r\n}\r\n'],
  ['Ctrl-Z, which ends a text file in DOS', '{"run":"run_1\u001a"}'],
  ['letters beyond ASCII', '{"name":"é 漢字 🎈"}'],
];

it.each(bodies)('a body with %s is authentic from a file and from standard input', async (_kind, body) => {
  const name = `body ${bodies.findIndex(([, one]) => one === body)}.json`;
  writeFileSync(join(folder, name), body);
  const given = ['--timestamp', timestamp, '--signature', `sha256=${sign(body)}`];
  for (const [source, stdin] of [[`.\\${name}`], ['-', join(folder, name)]] as const) {
    const ended = await rungate([...verify, ...given, '--body-file', source], {
      ...around,
      ...(stdin && { stdin }),
    });
    expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('authentic') });
  }
});
