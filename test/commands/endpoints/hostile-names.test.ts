import { afterEach, describe, expect, it } from 'vitest';
import { type Stage, stage } from '../../cli/harness.ts';

let on: Stage;
afterEach(() => on.close());

const always = { times: Number.POSITIVE_INFINITY };

describe('field names from the service are untrusted', () => {
  it.each([[[]], [['--all']]])('headings have no escape sequences: env list %j', async (more) => {
    on = await stage();
    const text = JSON.stringify({ items: [{ id: 'a', 'x\u001b]0;t\u0007\n\u009b31m': 'v' }] });
    on.mock.faults.add({ kind: 'reply', text, ...always });
    const { code, out } = await on.rungate('env', 'list', '--format', 'table', ...more);
    expect(code).toBe(0);
    expect(out).toMatch(/^ID/);
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(out.trimEnd().split('\n')).toHaveLength(2);
  });

  it.each([[[]], [['--all']]])('headings have no secrets: env list %j', async (more) => {
    on = await stage();
    const text = JSON.stringify({ items: [{ id: 'a', [`x${on.mock.token}`]: 'v' }] });
    on.mock.faults.add({ kind: 'reply', text, ...always });
    const { out } = await on.rungate('env', 'list', '--format', 'table', ...more);
    const plain = (value: string) => value.replace(/\s/g, '').toLowerCase();
    expect(plain(out)).not.toContain(plain(on.mock.token).slice(0, 20));
  });
});

it('direction marks stay in Hebrew texts, but not in keys, ids, names and other texts', async () => {
  on = await stage();
  const marked = '\u200fשלום\u200e';
  const escaped = '\\u200fשלום\\u200e';
  const item = { id: marked, name: marked, key: marked, ownerId: marked, title: marked, note: 'a\u200eb' };
  on.mock.faults.add({
    kind: 'reply',
    text: JSON.stringify({ items: [item] }),
    ...always,
  });
  const columns = ['--columns', 'id,name,key,ownerId,title,note'];
  for (const more of [[], ['--all'], ['--format', 'table']]) {
    const { out } = await on.rungate('env', 'list', ...columns, ...more);
    const cells = out.trimEnd().split('\n').at(-1)?.split(/\s+/);
    expect(cells).toEqual([escaped, escaped, escaped, escaped, marked, 'a\\u200eb']);
  }
});

it('keys create prints the new API key, but not a bearer token that the response repeats', async () => {
  on = await stage();
  const text = JSON.stringify({ apiKey: 'sk_live_NEW123456', session: `Bearer ${on.mock.token}` });
  on.mock.faults.add({ kind: 'reply', status: 201, text, endpoint: 'keys.create' } as never);
  const { out } = await on.rungate('keys', 'create', '--name', 'a', '--json');
  expect(out).toContain('sk_live_NEW123456');
  expect(out).not.toContain(on.mock.token);
});
