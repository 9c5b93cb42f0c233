import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from './built.ts';

const receivers = ['fetch', 'node-http', 'express', 'fastify', 'lambda'];

/** Runs a module in plain Node, where `rungate/…` is this package by its exports. */
function run(lines: readonly string[]): unknown {
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '--eval', lines.join('\n')], {
      cwd: root,
      encoding: 'utf8',
    }),
  );
}

describe('the built receivers', () => {
  test('share one error class with rungate/webhook, whatever a catch asks for', () => {
    const same = run([
      "const { WebhookVerificationError } = await import('rungate/webhook');",
      'const all = {};',
      `for (const name of ${JSON.stringify(receivers)}) {`,
      '  const receiver = await import(`rungate/webhook/${name}`);',
      '  all[name] = receiver.WebhookVerificationError === WebhookVerificationError;',
      '}',
      'console.log(JSON.stringify(all));',
    ]);
    expect(same).toEqual(Object.fromEntries(receivers.map((name) => [name, true])));
  });

  test('verify and guard, from the package', () => {
    const verdicts = run([
      "import { sign } from 'rungate/webhook';",
      "import { receive } from 'rungate/webhook/fetch';",
      "import { createReplayGuard } from 'rungate/webhook/replay';",
      "const { timestamp, signature } = await sign({ body: '{}', secret: 'k' });",
      "const headers = { 'x-service-timestamp': timestamp, 'x-service-signature': signature };",
      'const guard = createReplayGuard();',
      'const verdicts = [];',
      'for (let attempt = 0; attempt < 2; attempt += 1) {',
      "  const request = new Request('http://x.test/', { method: 'POST', headers, body: '{}' });",
      "  const { verified, signature } = await receive(request, { secrets: 'k' });",
      '  verdicts.push(await guard.check(verified, signature));',
      '}',
      'console.log(JSON.stringify(verdicts));',
    ]);
    expect(verdicts).toEqual(['first', 'replay']);
  });

  test('import no framework and no client; the one for fetch and the guard nothing at all', () => {
    const folder = join(root, 'dist/webhook');
    const imported = (file: string): string[] =>
      [...readFileSync(join(folder, file), 'utf8').matchAll(/(?:from|import)\s*["']([^"']+)["']/g)].flatMap(
        ([, name = '']) => (name.startsWith('./') ? imported(name) : [name]),
      );
    const files = readdirSync(folder).filter((file) => file.endsWith('.js'));
    expect([...new Set(files.flatMap(imported))]).toEqual(['node:crypto']);
    expect([...imported('fetch.js'), ...imported('replay.js')]).toEqual([]);
  });
});
