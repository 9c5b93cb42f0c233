import { createHash } from 'node:crypto';
import { eventTypes } from '../data/webhooks.ts';
import { isDeliveryKind } from '../faults/delivery-kinds.ts';
import { faultNames, faultTargets } from '../faults/parse.ts';
import style from './page.css?raw';
import markup from './page.html?raw';
import script from './page.js?raw';

/** Status codes to offer as faults: those that services and proxies commonly send. */
const statuses = ['400', '401', '403', '404', '409', '429', '500', '502', '503', '504'];

function options(values: readonly string[]): string {
  return values.map((value) => `<option>${value}</option>`).join('');
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Allows only the page's own style and script and requests to the mock, and no HTML from text. */
export const policy = [
  "default-src 'none'",
  `script-src ${hashOf(script)}`,
  `style-src ${hashOf(style)}`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Returns the page as one file. It holds no data except the token for requesting it. */
export function pageHtml(token: string): string {
  const parts: Readonly<Record<string, string>> = {
    token,
    statuses: options(statuses),
    requestKinds: options(faultNames.filter((kind) => !isDeliveryKind(kind))),
    deliveryKinds: options(faultNames.filter(isDeliveryKind)),
    endpoints: options(faultTargets),
    events: options(eventTypes.map(({ type }) => type)),
  };
  return markup
    .replace(/\{\{(\w+)\}\}/g, (_whole, name: string) => parts[name] ?? '')
    .replace('<style>', (tag) => tag + style)
    .replace('<script type="module">', (tag) => tag + script);
}
