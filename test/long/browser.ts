import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** A browser that is there anyway: none is downloaded. `CHROMIUM` names one in another place. */
const places = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
const found = places.find((place) => place !== undefined && existsSync(place));

/** Where there is none: skipped, and said so. In CI it is there, or the test fails. */
export const skipped = found === undefined && !process.env.CI;

/** Starts it so that it talks to nobody of its own accord. */
export function startBrowser(): Promise<Browser> {
  if (found === undefined) throw new Error('no Chromium: install it, or name it in CHROMIUM');
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
