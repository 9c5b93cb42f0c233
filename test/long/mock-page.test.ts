import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { rungate, start } from '../e2e/built.ts';
import { fakeClock } from '../fake-clock.ts';
import { skipped, startBrowser } from './browser.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const evil = '<img src=x onerror="document.title=1"><script>document.title=2</script>';

let browser: Browser;
let context: BrowserContext;
let page: Page;
let mock: MockServer;
let errors: string[];
let foreignRequests: string[];

beforeAll(async () => {
  if (!skipped) browser = await startBrowser();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  mock = await startMock({ page: true, outcome: 'stuck', deliveries: 'loopback' });
});
afterEach(async () => {
  await context?.close();
  await mock.close();
});

async function open(path = '/', options: BrowserContextOptions = {}): Promise<void> {
  errors = [];
  foreignRequests = [];
  context = await browser.newContext(options);
  page = await context.newPage();
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => errors.push(message.text()));
  page.on('request', (request) => {
    if (!/^(data:|blob:)/.test(request.url()) && !request.url().startsWith(`${mock.url}/`))
      foreignRequests.push(request.url());
  });
  await page.goto(mock.url + path);
  await page.getByText('Live', { exact: true }).waitFor();
}

const headers = () => ({ 'x-api-key': mock.apiKey, 'content-type': 'application/json' });

async function makeRun(body: object = { projectSlug: 'shop', processSlug: 'checkout' }): Promise<string> {
  const init = { method: 'POST', headers: headers(), body: JSON.stringify(body) };
  const run = (await (await fetch(`${mock.url}/api/ci/runs`, init)).json()) as { runId: string };
  return run.runId;
}

const env = () => ({ RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey, RUNGATE_TOKEN: mock.token });
const endButton = (id: string, as: string) =>
  page.getByRole('group', { name: `End ${id} as` }).getByRole('button', { name: as });
const focused = () => page.evaluate('document.activeElement.textContent') as Promise<string>;

const focusedRow = () => page.evaluate('document.activeElement.closest("[data-key]").dataset.key');

/** Fills the page with runs, deliveries, a fault and requests, one of them open. Returns the id of the first run. */
async function fill(): Promise<string> {
  const id = await makeRun();
  await makeRun({ projectSlug: evil, tags: [evil], ref: 'x'.repeat(300), externalUrl: `https://${evil}` });
  await page.getByLabel('Endpoint').selectOption('orders.list');
  await page.getByRole('button', { name: 'Switch on' }).click();
  await page.getByRole('button', { name: 'Switch off' }).waitFor();
  await page.getByLabel('Show deliveries that were not sent').check();
  await page.getByText('POST /api/ci/runs').first().click();
  await page.locator('pre', { hasText: 'x-api-key: ********' }).waitFor();
  return id;
}

async function violations(): Promise<string[]> {
  await page.evaluate(axe);
  const found = (await page.evaluate('axe.run()')) as {
    violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
  };
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
  );
}

const isWiderThanTheScreen = () =>
  page.evaluate('document.documentElement.scrollWidth > innerWidth') as Promise<boolean>;

describe.skipIf(skipped)("the mock's page in Chromium (skipped without a browser)", () => {
  it.each(['light', 'dark'] as const)('has no accessibility violations in %s mode', async (colorScheme) => {
    await open('/', { colorScheme });
    expect(await violations()).toEqual([]);
    const id = await fill();
    expect(await violations()).toEqual([]);
    await page.goto(`${mock.url}/projects/shop/runs/${id}`);
    await page.getByRole('heading', { name: id }).waitFor();
    expect(await violations()).toEqual([]);
    expect([errors, foreignRequests]).toEqual([[], []]);
  });

  it('fits on a screen of 360 pixels', async () => {
    await open('/', { viewport: { width: 360, height: 640 } });
    expect(await isWiderThanTheScreen()).toBe(false);
    await fill();
    expect(await isWiderThanTheScreen()).toBe(false);
    await page.getByRole('link', { name: /^run_/ }).first().click();
    await page.getByText('CI build').waitFor();
    expect(await isWiderThanTheScreen()).toBe(false);
  });

  it('has no animations if the user prefers reduced motion', async () => {
    await open('/', { reducedMotion: 'reduce' });
    await makeRun();
    await page.getByRole('link', { name: /^run_/ }).waitFor();
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
  });

  it.each([
    ['passed', 0],
    ['failed', 1],
    ['blocked', 2],
    ['cancelled', 4],
  ] as const)('ends a run as %s on a click, and its run wait exits with %i', async (as, code) => {
    mock.state.plan.retryAfterSeconds = 0.1;
    const id = await makeRun();
    await open();
    const waiting = rungate(['run', 'wait', id, '--strict', '--json'], env());
    await page.getByText(`GET /api/ci/runs/${id}`).first().waitFor();
    await endButton(id, as).click();
    await page
      .getByRole('status')
      .filter({ hasText: `${id} ended as ${as}` })
      .waitFor();
    const { code: exit, out } = await waiting.ended;
    expect([exit, JSON.parse(out).runs[0].verdict]).toEqual([code, as]);
    expect(errors).toEqual([]);
  });

  it('works with the keyboard alone, and updates do not move the focus', async () => {
    const id = await makeRun();
    await open();
    const tabTo = async (wanted: RegExp) => {
      for (let i = 0; i < 40; i += 1) {
        await page.keyboard.press('Tab');
        if (wanted.test(await focused())) return;
      }
      throw new Error(`${wanted} is not reached`);
    };
    await tabTo(/^Skip/);
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await tabTo(/^failed$/);
    // Two more runs appear above it.
    for (let i = 0; i < 2; i += 1) {
      const other = await makeRun();
      await page.getByRole('link', { name: other }).waitFor();
      expect([await focused(), await focusedRow()]).toEqual(['failed', id]);
    }
    await page.keyboard.press('Enter');
    await page
      .getByRole('status')
      .filter({ hasText: `${id} ended as failed` })
      .waitFor();
    // The buttons have disappeared: the run's link has the focus.
    expect(await focused()).toBe(id);

    await tabTo(/^Switch on$/);
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Switch off' }).waitFor();
    await tabTo(/^Switch off$/);
    await page.keyboard.press('Enter');
    await page.getByText('No faults are on.').waitFor();
    expect(await focused()).toBe('Faults');
  });

  it('offers events for faults of deliveries and endpoints for the other faults', async () => {
    await open();
    const kind = page.locator('select[name=kind]');
    const target = page.locator('select[name=target]');
    const offered = () => target.locator('optgroup:not(:disabled)').getAttribute('label');
    expect(await offered()).toBe('Endpoints');
    await target.selectOption('run.status');
    await kind.selectOption('drop');
    expect([await offered(), await target.inputValue()]).toEqual(['Events', '']);
    await target.selectOption('run.completed');
    await page.getByRole('button', { name: 'Switch on' }).click();
    await page.getByText('1 delivery left').waitFor();
    expect(mock.faults.list).toEqual([{ kind: 'drop', event: 'run.completed', skip: 0, times: 1 }]);
    await kind.selectOption('reset');
    expect([await offered(), await target.inputValue()]).toEqual(['Endpoints', '']);
  });

  it('announces the end of a run, and stops updating while paused', async () => {
    const id = await makeRun();
    await open();
    await page.getByRole('link', { name: id }).waitFor();
    const cancel = { method: 'POST', headers: headers(), body: '{}' };
    await fetch(`${mock.url}/api/ci/runs/${id}/cancel`, cancel);
    await page
      .getByRole('status')
      .filter({ hasText: `${id} ended: cancelled` })
      .waitFor();
    await page.getByRole('button', { name: 'Pause updates', pressed: false }).click();
    await page.getByRole('button', { name: 'Pause updates', pressed: true }).waitFor();
    await page.getByText('Paused').waitFor();
    const other = await makeRun();
    const read = page.waitForRequest((request) => request.url().includes('/_mock/page/state'), {
      timeout: 2500,
    });
    await expect(read).rejects.toThrow('Timeout');
    await page.getByRole('button', { name: 'Pause updates' }).click();
    await page.getByRole('link', { name: other }).waitFor();
  });

  it('writes hostile names as text', async () => {
    await open();
    await makeRun({ projectSlug: evil, processSlug: evil });
    await fetch(`${mock.url}/api/ci/runs/${evil}?${evil}`, { headers: headers() });
    await page.getByText(`${evil} / ${evil}`).waitFor();
    await page.getByRole('link', { name: /^run_/ }).click();
    await page.getByText(evil).first().waitFor();
    await page.goto(`${mock.url}/projects/x/runs/${encodeURIComponent(evil)}`);
    await page.getByRole('heading', { name: 'Unknown run' }).waitFor();
    expect(await page.evaluate('document.querySelectorAll("img").length')).toBe(0);
    expect(await page.evaluate('document.querySelectorAll("script").length')).toBe(1);
    expect([errors, foreignRequests]).toEqual([[], []]);
  });

  it('cannot create markup from text, even by its own script', async () => {
    await open();
    const written = page.evaluate(`document.body.innerHTML = '<b>x</b>'`);
    await expect(written).rejects.toThrow('TrustedHTML');
  });

  it('cannot be read or controlled by a page of another origin', async () => {
    const id = await makeRun();
    const token = /name="token" content="([^"]+)/.exec(await (await fetch(mock.url)).text())?.[1];
    const other = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>other</title>');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    await open();
    const action = JSON.stringify({ do: 'end', run: id, as: 'passed' });
    for (const host of ['127.0.0.1', 'localhost']) {
      await page.goto(`http://${host}:${port}/`);
      const outcome = await page.evaluate(
        async ([url, body, knownToken]) => {
          const resultOf = (response: Promise<Response>) =>
            response.then(
              (one) => `${one.type} ${one.status}`,
              () => 'refused',
            );
          const post = { method: 'POST', body: body as string };
          return [
            await resultOf(fetch(`${url}/`)),
            await resultOf(fetch(`${url}/_mock/page/state`)),
            // Even with a stolen token.
            await resultOf(
              fetch(`${url}/_mock/page/do`, { ...post, headers: { 'x-mock-page': knownToken as string } }),
            ),
            await resultOf(fetch(`${url}/_mock/page/do`, { ...post, mode: 'no-cors' })),
          ];
        },
        [mock.url, action, token],
      );
      expect(outcome.slice(0, 3), host).toEqual(['refused', 'refused', 'refused']);
      await page.evaluate(
        `const form = document.createElement('form');
         Object.assign(form, { method: 'POST', action: '${mock.url}/_mock/page/do', enctype: 'text/plain' });
         const field = document.createElement('input');
         Object.assign(field, { name: ${JSON.stringify(`${action.slice(0, -1)},"x":"`)}, value: '"}' });
         form.append(field);
         document.body.append(form);
         form.submit();`,
      );
      await page.getByText('Forbidden').waitFor();
      await page.goto(`http://${host}:${port}/`);
      // Wait before triggering the request: its response may arrive before the call that triggers it returns.
      const refused = page.waitForResponse(
        (response) => response.url() === `${mock.url}/` && response.status() === 403,
      );
      await page.evaluate(
        `const frame = document.createElement('iframe'); frame.src = '${mock.url}/'; document.body.append(frame);`,
      );
      await refused;
    }
    other.close();
    expect(mock.state.runs.get(id)).toMatchObject({ outcome: 'stuck' });
    expect(mock.state.runs.get(id)?.cancelled).toBeUndefined();
  });

  it('reports a mock that does not respond, and continues when it does', async () => {
    await open();
    mock.faults.add({ kind: 'refused', forMs: 3000 });
    await fetch(`${mock.url}/api/orders.json`).catch(() => {});
    await page.getByText('The mock does not respond').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
  });

  it('does not control a restarted mock before it is reloaded, and says so', async () => {
    await open();
    await mock.close();
    mock = await startMock({ page: true, outcome: 'stuck', port: mock.port });
    await page.getByText('the mock was restarted: reload the page').waitFor();
    await page.getByRole('button', { name: 'Switch on' }).click();
    await page.getByText('Not done: the mock was restarted').waitFor();
    expect(mock.faults.pending).toBe(0);
    await page.reload();
    await page.getByText('Live', { exact: true }).waitFor();
  });
});

it('mock serve prints the URL of the page on standard error, and the page is small', async () => {
  const serving = rungate(['mock', 'serve', '--port', '0']);
  await serving.shows(/stop it with Ctrl-C/);
  serving.child.kill('SIGTERM');
  const { err } = await serving.ended;
  const printed = /^open (http:\/\/127\.0\.0\.1:\d+\/) to see requests/m.exec(err);
  expect(printed).not.toBeNull();

  const again = rungate(['mock', 'serve', '--port', new URL(String(printed?.[1])).port]);
  await again.shows(/stop it with Ctrl-C/);
  const page = await start('curl', ['-sf', '--max-time', '5', String(printed?.[1])]).ended;
  again.child.kill('SIGTERM');
  await again.ended;
  expect(page.out).toMatch(/^<!doctype html>/i);
});

const picture = fileURLToPath(new URL('../../docs/reference/mock-page.png', import.meta.url));

/** Returns the share of pixels in which two pictures differ visibly, or 1 if their sizes differ. */
const difference = (one: Buffer, other: Buffer) =>
  page.evaluate(
    `(async (all) => {
      const [a, b] = await Promise.all(all.map(async (data) => {
        const image = await createImageBitmap(await (await fetch('data:image/png;base64,' + data)).blob());
        const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, image.width, image.height);
      }));
      if (a.width !== b.width || a.height !== b.height) return 1;
      let different = 0;
      for (let at = 0; at < a.data.length; at += 4)
        if (Math.abs(a.data[at] - b.data[at]) + Math.abs(a.data[at + 1] - b.data[at + 1]) > 96) different += 1;
      return different / (a.data.length / 4);
    })(${JSON.stringify([one, other].map((image) => image.toString('base64')))})`,
  ) as Promise<number>;

// `npm run docs:picture` sets PICTURE=write: this test then takes the picture instead of comparing it.
it.skipIf(skipped)('the picture in docs/reference/mock.md shows the page', async () => {
  await mock.close();
  mock = await startMock({
    page: true,
    clock: fakeClock(),
    seed: 1,
    outcome: ['failed', 'stuck'],
    duration: 0,
    deliveries: 'loopback',
  });
  await makeRun();
  await makeRun({ projectSlug: 'shop', tags: ['smoke'] });
  await open('/', {
    viewport: { width: 1000, height: 640 },
    colorScheme: 'light',
    locale: 'en-GB',
    timezoneId: 'UTC',
  });
  await page.getByLabel('Show deliveries that were not sent').check();
  const taken = await page.screenshot({ animations: 'disabled' });
  if (process.env.PICTURE === 'write') writeFileSync(picture, taken);
  await context.close();
  // The page itself may not load pictures.
  context = await browser.newContext();
  page = await context.newPage();
  expect(await difference(readFileSync(picture), taken)).toBeLessThan(0.0002);
});
