import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { basename, extname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
// @ts-expect-error part of the site, which has no types
import { addressOf, readPages } from '../../site/.vitepress/pages.mjs';
import { exitCodes } from '../../src/exit.ts';
import { version } from '../../src/version.ts';
import { root } from '../e2e/built.ts';
import { skipped as noBrowser, startBrowser } from './browser.ts';

const installed = existsSync(join(root, 'site/node_modules/vitepress'));
const skipped = noBrowser || (!installed && !process.env.REQUIRE_TOOLS);

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const served = join(root, 'site/dist');
/** The site of one version, beside which there can be others. */
const base = `/${version}/`;
const built = join(served, base);

const { titles } = readPages(root) as { titles: Map<string, string> };
const listed = [...titles.keys()].filter((path) => path.endsWith('.md'));
const addressIn = (path: string) =>
  `${base}${(addressOf(path) as string).replace(/(^index)?\.md$/, (_all, index) => (index ? '' : '.html'))}`;
/** Returns the address of the page whose file has this name, in any folder. */
const address = (name: string) => addressIn(listed.find((path) => basename(path) === name) ?? name);

const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

/** A static server: it shows index.html for a folder, and 404.html for an unknown address. */
const server: Server = createServer((request, response) => {
  const path = decodeURIComponent(new URL(String(request.url), 'http://localhost').pathname);
  const file = join(served, path, path.endsWith('/') ? 'index.html' : '');
  if (existsSync(file) && statSync(file).isDirectory()) {
    response.writeHead(301, { location: `${path}/` }).end();
  } else if (existsSync(file)) {
    response.writeHead(200, { 'content-type': types[extname(file)] ?? 'text/plain' }).end(readFileSync(file));
  } else {
    response.writeHead(404, { 'content-type': 'text/html' }).end(readFileSync(join(built, '404.html')));
  }
});

let browser: Browser;
let url: string;
let context: BrowserContext;
let page: Page;
let errors: string[];
let foreignRequests: string[];

async function open(path: string, options: BrowserContextOptions = {}) {
  errors = [];
  foreignRequests = [];
  context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  await context.route('**', (route) => {
    if (route.request().url().startsWith(`${url}/`)) return route.continue();
    foreignRequests.push(route.request().url());
    return route.abort();
  });
  page = await context.newPage();
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => errors.push(message.text()));
  const response = await page.goto(url + path);
  await isReady();
  return response;
}

/** Waits until the scripts of the page respond. */
const isReady = () => page.waitForFunction('document.querySelector("#app")?.__vue_app__ !== undefined');

async function seriousViolations(): Promise<string[]> {
  await page.evaluate(axe);
  const found = (await page.evaluate('axe.run()')) as {
    violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
  };
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`));
}

const htmlFiles = () =>
  readdirSync(built, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'));

/** Returns the links of a built page, and the ids of its elements, without those in code blocks. */
function parse(name: string): { links: string[]; ids: Set<string> } {
  const html = readFileSync(join(built, name), 'utf8').replace(/<pre.*?<\/pre>/gs, '');
  const values = (pattern: RegExp) =>
    [...html.matchAll(pattern)].map(([, value = '']) => value.replaceAll('&amp;', '&'));
  return { links: values(/\s(?:href|src)="([^"]*)"/g), ids: new Set(values(/\sid="([^"]*)"/g)) };
}

describe.skipIf(skipped)('the documentation site (skipped without Chromium or site/node_modules)', () => {
  beforeAll(async () => {
    const env = { ...process.env, SITE_BASE: base };
    const { stdout, stderr } = await promisify(execFile)(
      'npm',
      ['run', '--silent', 'build', '--prefix', 'site'],
      {
        cwd: root,
        env,
      },
    );
    expect(`${stdout}${stderr}`).not.toMatch(/error|warn|not loaded/i);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    server.close();
  });
  afterEach(async () => {
    await context?.close();
  });

  it('has every page that docs/README.md lists, in one of its two sidebars', async () => {
    const hrefsOf = async (path: string) => {
      await open(path);
      const script =
        '[...document.querySelectorAll(".VPSidebar a")].map((link) => link.getAttribute("href"))';
      return (await page.evaluate(script)) as string[];
    };
    const ofUsers = await hrefsOf(base);
    const ofProject = await hrefsOf(address('architecture.md'));
    expect(ofUsers).not.toContain(address('architecture.md'));
    expect([...new Set([...ofUsers, ...ofProject])].toSorted()).toEqual(
      [...titles.keys()].map(addressIn).toSorted(),
    );
    const pages = htmlFiles().filter((name) => name !== '404.html' && !name.startsWith('exit/'));
    expect(pages).toHaveLength(listed.length);
    expect([errors, foreignRequests]).toEqual([[], []]);
  });

  it('has no broken link or anchor', () => {
    const parsed = new Map(htmlFiles().map((name) => [name, parse(name)]));
    const broken = [...parsed].flatMap(([name, { links }]) =>
      links.filter((link) => {
        const target = new URL(link, `http://site${base}${name}`);
        if (target.host !== 'site') return false;
        const path = decodeURIComponent(target.pathname).slice(base.length);
        const file = path === '' || path.endsWith('/') ? `${path}index.html` : path;
        if (!target.pathname.startsWith(base) || !existsSync(join(built, file))) return true;
        const anchor = decodeURIComponent(target.hash.slice(1));
        return anchor !== '' && !parsed.get(file)?.ids.has(anchor);
      }),
    );
    expect([...parsed.values()].flatMap(({ links }) => links)).not.toEqual([]);
    expect(broken).toEqual([]);
  });

  it('finds the section on rate limits, and opens it', async () => {
    await open(base);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('searchbox').fill('rate limits');
    await page.locator('.result.selected', { hasText: 'Rate limits' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/#rate-limits$/);
    await page.getByRole('heading', { name: 'Rate limits', level: 2 }).waitFor();
    expect([errors, foreignRequests]).toEqual([[], []]);
  });

  it.each([
    ['exit code 5', 'exit-codes.md'],
    ['flaky', 'gates.md'],
    ['default timeout', 'waiting.md'],
    ['cancel', 'waiting.md'],
    ['blocked', 'verdicts.md'],
    ['rate limits', 'network.md'],
    ['where is the API key stored', 'keys.md'],
    ['environment variables', 'settings.md'],
    ['raw response', 'output.md'],
    ['re-run', 'creating-runs.md'],
    ['forks', 'github.md'],
    ['Dependabot', 'github.md'],
    ['merge queue', 'github.md'],
    ['monorepo', 'recipes.md'],
    ['names of failed tests', 'output.md'],
    ['Slack notification', 'recipes.md'],
    ['hub cost', 'hub.md'],
    ['NestJS', 'webhooks.md'],
    ['Jest', 'library.md'],
    ['without Node', 'without-node.md'],
  ])('finds the page for %j within the first three results', async (query, file) => {
    await open(base);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('searchbox').fill(query);
    const script =
      '[...document.querySelectorAll(".result")].slice(0, 3).map((result) => result.getAttribute("href"))';
    const name = file.replace(/md$/, 'html');
    await expect
      .poll(() => page.evaluate(script) as Promise<string[]>, { timeout: 10_000 })
      .toContainEqual(expect.stringMatching(new RegExp(`/${name}(?:#|$)`)));
  });

  it('copies only the commands of a console', async () => {
    await open(base, { permissions: ['clipboard-read', 'clipboard-write'] });
    const block = page.locator('.language-console').first();
    await block.hover();
    await block.getByRole('button', { name: 'Copy' }).click();
    await block.locator('.copied').waitFor();
    const copied = (await page.evaluate('navigator.clipboard.readText()')) as string;
    expect(copied.trim().split('\n')).toEqual([
      'cat fixtures/curl-loop.sh',
      'npx rungate mock exec --outcome failed --fault 502@run.status -- bash fixtures/curl-loop.sh',
    ]);
  });

  it.each(['webhooks.md', 'previews.md', 'library.md', 'proof.md'])(
    'cuts no line of the code blocks of %s at 1,280 px',
    async (name) => {
      await open(address(name), { viewport: { width: 1280, height: 800 } });
      const script =
        '[...document.querySelectorAll(".vp-doc pre")].filter((pre) => pre.scrollWidth > pre.clientWidth).map((pre) => pre.innerText)';
      expect(await page.evaluate(script)).toEqual([]);
    },
  );

  it.each(['light', 'dark'] as const)(
    'has no serious accessibility violations in %s mode',
    async (colorScheme) => {
      await open(base, { colorScheme });
      for (const path of [base, address('settings.md'), address('ci.md'), `${base}nothing.html`]) {
        await page.goto(url + path);
        await isReady();
        expect(await seriousViolations(), path).toEqual([]);
      }
      expect(foreignRequests).toEqual([]);
    },
  );

  it('opens the tab that a link names, and moves between tabs with the keyboard', async () => {
    await open(`${address('other-ci.md')}#azure-pipelines`);
    const tab = (name: string) => page.getByRole('radio', { name });
    const shows = (text: string) => page.getByText(text).first().waitFor();
    await shows('vmImage: ubuntu-latest');
    expect(await tab('Azure Pipelines').isChecked()).toBe(true);
    await tab('Azure Pipelines').focus();
    await page.keyboard.press('ArrowLeft');
    await shows('resource_class: small');
    expect(await tab('CircleCI').isChecked()).toBe(true);
    expect([errors, foreignRequests]).toEqual([[], []]);
  });

  it.each(Object.values(exitCodes))('leads from /exit/%i to the exit codes', async (code) => {
    const text = await (await fetch(`${url}${base}exit/${code}`)).text();
    const [, target = ''] = /url=([^"]+)"/.exec(text) ?? [];
    const { pathname, hash } = new URL(target, `${url}${base}exit/${code}/`);
    expect([pathname, hash]).toEqual([address('exit-codes.md'), `#exit-code-${code}`]);
    expect((await fetch(url + pathname)).status).toBe(200);
  });
});
