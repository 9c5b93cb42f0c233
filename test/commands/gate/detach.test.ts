import { afterEach, describe, expect, it } from 'vitest';
import { type Circle, context, head, openCircle, tokens } from './circle.ts';

let on: Circle;
afterEach(async () => {
  const [leaked, { mistakes }] = [on.leaked(), on.github];
  await on.close();
  expect({ leaked, mistakes }).toEqual({ leaked: [], mistakes: [] });
});

const older = { state: 'success', context, description: 'older' };
/** Nothing was created, and an older success does not stand for the gate. */
const nothing = () => expect([on.runs().length, on.latest()?.state]).toEqual([0, 'error']);

describe('gate --detach', () => {
  it('replaces an older success of the commit before it creates the run', async () => {
    on = await openCircle();
    on.github.set(head, older);
    const created: number[] = [];
    on.github.fail = (request) => {
      if (request.startsWith('POST')) created.push(on.runs().length);
      return undefined;
    };
    await on.ended(on.detach());
    expect([on.latest()?.state, created, on.runs().length]).toEqual(['pending', [0], 1]);
  });

  it.each([
    ['responds', { RUNGATE_HUB_URL: 'http://127.0.0.1:9' }, 7, '127.0.0.1:9'],
    ['knows the token', { RUNGATE_HUB_TOKEN: 'wrong-token-0123456789' }, 6, 'the hub rejected the token'],
  ])('fails without a hub that %s', async (_, env, code, message) => {
    on = await openCircle();
    on.github.set(head, older);
    const ended = await on.ended(on.detach({}, [], { env }));
    expect([ended.code, ended.err]).toEqual([code, expect.stringContaining(message)]);
    nothing();
  });

  it('fails if the hub refuses the gate', async () => {
    on = await openCircle();
    on.github.set(head, older);
    const full = await on.server((_, response) => response.writeHead(507).end('{"error":"too many gates"}'));
    const { code } = await on.ended(on.detach({}, [], { env: { RUNGATE_HUB_URL: full } }));
    expect(code).toBe(5);
    nothing();
  });

  it('needs the permission statuses: write, and creates nothing without it', async () => {
    on = await openCircle();
    on.github.allow(tokens.job, { contents: 'write', actions: 'write', statuses: 'read' });
    const { code, err } = await on.ended(on.detach());
    expect([code, err]).toEqual([
      6,
      expect.stringContaining('check the permissions of the token in RUNGATE_GITHUB_TOKEN'),
    ]);
    expect(on.runs()).toEqual([]);
    const { out } = await on.ended(on.start(['gate', '--resume-pending', '--json']));
    expect(out).toBe('');
  });

  it('sets an error if the service does not create the run', async () => {
    on = await openCircle();
    on.mock.faults.add({ kind: 'status', status: 403, endpoint: 'run.trigger' });
    const { code } = await on.ended(on.detach());
    expect(code).toBe(6);
    nothing();
  });

  it('prints JSON with the result "waiting"', async () => {
    on = await openCircle();
    const { out } = await on.ended(on.detach({}, ['--json']));
    expect(JSON.parse(out)).toMatchObject({ result: 'waiting', exitCode: 0 });
  });
});

describe('the rules of the branch', () => {
  it('that do not require the status are an error, before anything is sent', async () => {
    on = await openCircle();
    on.github.required = ['rungate: other'];
    const { code, err } = await on.ended(on.detach());
    expect([code, err]).toEqual([
      64,
      expect.stringContaining(`main does not require the commit status "${context}"`),
    ]);
    expect([on.runs(), on.latest()]).toEqual([[], undefined]);
  });

  it('that cannot be read are a warning', async () => {
    on = await openCircle();
    on.github.required = null;
    const { code, err } = await on.ended(on.detach());
    expect([code, err]).toEqual([0, expect.stringContaining('warning: the rules of main cannot be read')]);
  });

  it('that are the older protection need the permission contents: read, or there is a warning', async () => {
    on = await openCircle();
    on.github.required = [];
    on.github.protection = [context];
    on.github.allow(tokens.job, { statuses: 'write' });
    const { code, err } = await on.ended(on.detach());
    expect([code, err]).toEqual([0, expect.stringContaining('the rules of main cannot be read')]);
  });

  it('that are the older protection are read, too', async () => {
    on = await openCircle();
    on.github.required = [];
    on.github.protection = [context];
    const { code, err } = await on.ended(on.detach());
    expect([code, err]).toEqual([0, expect.not.stringContaining('warning')]);
  });
});

describe('gate --detach is refused', () => {
  it.each([
    ['without a hub', {}, { RUNGATE_HUB_URL: '' }, 78, 'a detached gate needs a hub'],
    ['in a push', { name: 'push' }, {}, 78, 'needs a job of a pull request or a merge queue on GitHub'],
    [
      'outside CI',
      {},
      { GITHUB_ACTIONS: '' },
      78,
      'needs a job of a pull request or a merge queue on GitHub',
    ],
    ['without a token of GitHub', {}, { RUNGATE_GITHUB_TOKEN: '' }, 6, 'no token of GitHub is set'],
    [
      'in a pull request from a fork',
      { from: 'fork/shop' },
      { RUNGATE_API_KEY: '' },
      6,
      'requests from forks get no secrets',
    ],
    [
      'in a pull request from a fork without variables',
      { from: 'fork/shop' },
      { RUNGATE_API_KEY: '', RUNGATE_HUB_URL: '', RUNGATE_API_URL: '' },
      78,
      'requests from forks get no secrets',
    ],
    [
      'in a pull request from a fork without a hub',
      { from: 'fork/shop' },
      { RUNGATE_API_KEY: '', RUNGATE_HUB_URL: '' },
      78,
      'requests from forks get no secrets',
    ],
  ] as const)('%s', async (where, event, env, code, message) => {
    // The job is known, and has a token: an older success must not stand.
    const isKnown = where.includes('a hub') || where === 'in a pull request from a fork';
    on = await openCircle();
    const ended = await on.ended(on.detach(event, [], { env }));
    expect([ended.code, ended.err]).toEqual([code, expect.stringContaining(message)]);
    const states = on.github.statusesOf(head).map(({ state }) => state);
    expect([on.runs(), states]).toEqual([[], isKnown ? ['error'] : []]);
  });

  it.each([
    [['--base-url', 'https://preview.example.test']],
    [['--deployed-url', 'https://shop.example.test/version', '--deployed-is', 'x']],
    [['--slice', '45s']],
    [['--new']],
  ])('with %j', async (more) => {
    on = await openCircle();
    const { code, err } = await on.ended(on.detach({}, more, { env: { RUNGATE_TOKEN: on.mock.token } }));
    expect([code, err]).toEqual([64, expect.stringContaining(String(more[0]))]);
    expect([on.runs(), on.github.requests]).toEqual([[], []]);
  });
});
