import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HubStage, hubStage } from '../../cli/hub-stage.ts';

let on: HubStage;
beforeEach(async () => {
  on = await hubStage();
});
afterEach(() => on.close());

async function examine(url: string, env: Record<string, string | undefined> = {}) {
  const { code, out } = await on.start(url, ['doctor', '--json'], { env }).end();
  const { checks } = JSON.parse(out) as { checks: { name: string }[] };
  return { code, out, check: checks.find(({ name }) => name === 'hub') };
}

describe('doctor', () => {
  it('says that the hub accepts the token, and leaves no stream open', async () => {
    const hub = await on.hub();
    const { code, check } = await examine(hub.url);
    expect(code).toBe(0);
    expect(check).toMatchObject({ status: 'ok', detail: expect.stringMatching(/accepted the token/) });
    expect(hub.log).toMatchObject([{ type: 'stream', runs: 0 }]);
  });

  it('warns of a hub whose Redis does not work', async () => {
    const hub = await on.hub(0, false);
    expect((await examine(hub.url)).check).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('the hub is degraded'),
      remedy: expect.stringContaining('GET /readyz'),
    });
  });

  it('warns of a hub that gates cannot use, with the reason and the remedy', async () => {
    const hub = await on.hub();
    const page = await on.server((_request, response) => void response.end('<html>\n'));
    const cases: [string, Record<string, string>, string, string][] = [
      [hub.url, { RUNGATE_HUB_TOKEN: '' }, 'the hub token is not set', 'set RUNGATE_HUB_TOKEN'],
      ['http://127.0.0.1:1', {}, 'nothing is listening', 'RUNGATE_HUB_URL'],
      [page, {}, 'an event that rungate does not know', 'check RUNGATE_HUB_URL'],
    ];
    for (const [url, env, problem, remedy] of cases) {
      const { code, out, check } = await examine(url, env);
      expect(check).toMatchObject({
        status: 'warn',
        detail: expect.stringContaining(problem),
        remedy: expect.stringContaining(remedy),
      });
      expect(code).toBe(0);
      expect(out).not.toContain('wrong-token');
    }
  });

  it('fails for an invalid URL of the hub, which stops every gate', async () => {
    const { code, check } = await examine('http://hub.example');
    expect([code, check]).toMatchObject([78, { status: 'fail' }]);
  });
});
