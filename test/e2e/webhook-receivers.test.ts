import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from './built.ts';

const receivers = ['fetch', 'node-http', 'express', 'fastify', 'lambda'];

/** Runs a module in plain Node, in which `rungate/…` resolves to the exports of this package. */
function run(lines: readonly string[]): unknown {
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '--eval', lines.join('\n')], {
      cwd: root,
      encoding: 'utf8',
    }),
  );
}

describe('the built receivers', () => {
  test('share one error class with rungate/webhook', () => {
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

  test('import neither a framework nor the client; the fetch receiver and the replay guard import nothing', () => {
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
