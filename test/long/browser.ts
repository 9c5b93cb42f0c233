import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** The paths of installed browsers; `CHROMIUM` adds another one. No browser is downloaded. */
const paths = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
const found = paths.find((path) => path !== undefined && existsSync(path));

/** Whether to skip the tests, because there is no browser. Under `.ci/run` they fail instead. */
export const skipped = found === undefined && !process.env.REQUIRE_TOOLS;

/** Starts the browser without background traffic. */
export function startBrowser(): Promise<Browser> {
  if (found === undefined) throw new Error('no Chromium found: install it, or set CHROMIUM to its path');
  return chromium.launch({
    executablePath: found,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
