import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { rungate } from '../e2e/built.ts';
import { fakeClock } from '../fake-clock.ts';
import { listen } from '../listen.ts';
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

async function makeRun(processSlug: string): Promise<string> {
  const headers = { 'x-api-key': mock.apiKey, 'content-type': 'application/json' };
  const body = JSON.stringify({ projectSlug: 'shop', processSlug });
  const response = await fetch(`${mock.url}/api/ci/runs`, { method: 'POST', headers, body });
  return ((await response.json()) as { runId: string }).runId;
}

async function violations(): Promise<string[]> {
  await page.evaluate(axe);
  const found = (await page.evaluate('axe.run()')) as { violations: { id: string; help: string }[] };
  return found.violations.map(({ id, help }) => `${id}: ${help}`);
}

describe.skipIf(skipped)("the mock's page in Chromium (skipped without a browser)", () => {
  it('shows runs as text, ends one for its gate, and makes a fault', async () => {
    mock.state.plan.retryAfterSeconds = 0.1;
    const id = await makeRun('checkout');
    await makeRun(evil);
    await open();
    await page.getByText(`shop / ${evil}`).waitFor();
    expect(await page.evaluate('document.querySelectorAll("img").length')).toBe(0);
    await expect(page.evaluate(`document.body.innerHTML = '<b>x</b>'`)).rejects.toThrow('TrustedHTML');

    const env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey };
    const waiting = rungate(['run', 'wait', id, '--strict'], env);
    await page.getByText('GET run.status').first().waitFor();
    await page.getByRole('link', { name: id }).click();
    await page
      .getByRole('group', { name: `End ${id} as` })
      .getByRole('button', { name: 'failed' })
      .click();
    await page.getByText(`${id} ended as failed`).waitFor();
    expect((await waiting.ended).code).toBe(1);

    await page.getByRole('combobox', { name: 'Fault' }).fill('503@orders.lst');
    await page.getByRole('combobox', { name: 'Fault' }).press('Enter');
    await page.getByText('Not done: unknown endpoint "orders.lst"').waitFor();
    await page.getByRole('combobox', { name: 'Fault' }).fill('503@orders.list');
    await page.getByRole('button', { name: 'Switch on' }).click();
    await page.getByText('status 503 on orders.list').waitFor();
    expect(await violations()).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await violations()).toEqual([]);
    await page.getByRole('button', { name: 'Switch off' }).click();
    await page.getByText('No faults are on.').waitFor();
    expect([foreignRequests, errors.filter((text) => !/TrustedHTML|422/.test(text))]).toEqual([[], []]);
  });

  it('cannot be read or controlled by a page of another origin', async () => {
    const id = await makeRun('checkout');
    const token = /name="token" content="([^"]+)/.exec(await (await fetch(mock.url)).text())?.[1];
    const other = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>other</title>');
    });
    const port = await listen(other);
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
    expect(mock.state.runs.get(id)).toMatchObject({ outcome: 'stuck' });
    expect(mock.state.runs.get(id)?.cancelled).toBeUndefined();
  });
});

const picture = fileURLToPath(new URL('../../docs/reference/mock-page.png', import.meta.url));

it.runIf(process.env.PICTURE === 'write')('draws the picture in docs/reference/mock.md', async () => {
  await mock.close();
  mock = await startMock({ page: true, clock: fakeClock(), outcome: ['failed', 'stuck'], duration: 0 });
  await makeRun('checkout');
  await makeRun('search');
  await open('/', {
    viewport: { width: 1000, height: 640 },
    colorScheme: 'light',
    locale: 'en-GB',
    timezoneId: 'UTC',
  });
  writeFileSync(picture, await page.screenshot({ animations: 'disabled' }));
});
