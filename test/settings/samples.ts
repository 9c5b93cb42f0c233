import type { FileId, OptionValues } from '../../src/options/table.ts';
import { mergeSettings } from '../../src/settings/merge.ts';
import type { SettingSource } from '../../src/settings/names.ts';

interface Samples<Value> {
  /** Pairs of the JSON in a file and the value it stands for. */
  right: readonly (readonly [unknown, Value])[];
  wrong: readonly unknown[];
}

/** Values that a file has as they are. */
const same = <const Value>(...values: readonly Value[]) => values.map((value) => [value, value] as const);

const texts = { wrong: ['', ' ', '\t', 'a\nb', 1, true, null, [], {}] };

/** Valid and invalid values of every setting, as JSON in a file. */
export const samples: { readonly [Name in FileId]: Samples<OptionValues[Name]> } = {
  apiUrl: {
    right: same('https://ci.example', 'http://127.0.0.1:9'),
    wrong: [
      '',
      'ci.example',
      'ftp://ci.example',
      'https://me:word@ci.example',
      'https://ci.example/?a=1',
      1,
      null,
    ],
  },
  'receipt.subjects': {
    right: same([], [`shop@sha256:${'a'.repeat(64)}`], [`localhost:5000/a/b:1.2@SHA256:${'A'.repeat(64)}`]),
    wrong: [
      ...texts.wrong.filter((value) => !Array.isArray(value) || value.length > 0),
      ['shop'],
      [`sha256:${'a'.repeat(64)}`],
      [`shop@sha256:${'a'.repeat(63)}`],
      [`a\nb@sha256:${'a'.repeat(64)}`],
      `shop@sha256:${'a'.repeat(64)}`,
    ],
  },
  'hub.url': {
    right: same('https://hub.example', 'http://127.0.0.1:4020/prefix'),
    wrong: ['', 'hub.example', 'https://token@hub.example', 'https://hub.example?token=1', 1],
  },
  project: { right: same('shop'), ...texts },
  process: { right: same('checkout'), ...texts },
  tags: {
    right: same(['smoke'], ['a', 'b c']),
    wrong: [[], [''], [' '], ['a', 1], 'smoke', {}, null, [['a']]],
  },
  environment: { right: same('staging'), ...texts },
  strict: {
    right: same(true, false),
    wrong: ['true', 0, 1, null, [], {}],
  },
  on: {
    right: same(
      {},
      { cancelled: 'fail' },
      { failed: 'warn', flaky: 'fail', timeout: 'warn', unobserved: 'fail' },
    ),
    wrong: [
      { passed: 'fail' },
      { timeout: 'pass' },
      { cancelled: 'ignore' },
      { canceled: 'fail' },
      { failed: true },
      'cancelled=fail',
      [],
      null,
      true,
    ],
  },
  interval: {
    right: [
      ['250ms', 250],
      ['10s', 10_000],
      ['30', 30_000],
      [' .5s ', 500],
      [10, 10_000],
      [0.5, 500],
    ],
    wrong: ['0', '0s', '0.00m', '-1s', '10 s', '1w', 'soon', '', 0, -1, 1e10, null, true, [], {}],
  },
  maxAttempts: {
    right: same(1, 120),
    wrong: [0, -1, 1.5, 1e9, '60', null, true],
  },
  timeout: { right: [['2h', 7_200_000]], wrong: ['0', 'never', 0, null] },
  retries: {
    right: same(0, 10),
    wrong: [-1, 11, 1.5, '1', null, true],
  },
  format: {
    right: same('table', 'json'),
    wrong: ['plain', 'yaml', 'JSON', '', 1, null],
  },
  auth: {
    right: same('bearer', 'key'),
    wrong: ['token', '', null],
  },
  caFile: { right: same('/etc/ssl/own.pem'), ...texts },
  'run.idPointer': { right: same('/data/runId'), wrong: ['', 'data/runId', '$.id', 1] },
  'env.providerModelField': { right: same('anthropicModel'), ...texts },
  'preview.baseUrl': {
    right: same('https://shop-42.preview.example/?key=1'),
    wrong: ['', 'automatic', '/', 'shop.example', 'ftp://shop.example', 'https://a:b@shop.example', 1],
  },
  'preview.readyUrl': {
    right: same('https://shop.example/healthz', '/healthz'),
    wrong: ['', 'healthz', '//shop.example', 'https://a/#b', 1],
  },
  'preview.readyTimeout': { right: [['10m', 600_000]], wrong: ['0', 'never', null] },
  'preview.copyVariables': { right: same(true), wrong: ['true', 1, null] },
  'deployed.url': {
    right: [
      ...same('https://shop.example.com/version?format=text', '/version.json'),
      [' http://localhost:3000/version ', 'http://localhost:3000/version'],
    ],
    wrong: [
      '',
      '//version',
      'shop.example.com',
      'ftp://shop.example.com',
      'https://a:b@shop.example.com/',
      'https://a/#b',
      1,
    ],
  },
  'deployed.pointer': { right: same('/build/commit'), wrong: ['', 'version', 1] },
  'deployed.is': { right: same('1.2.3'), wrong: ['', ' ', 'a\nb', 1] },
  'deployed.timeout': { right: [['10m', 600_000]], wrong: ['0', 'never', null] },
  'webhook.timestampHeader': {
    right: same('X-Acme-Timestamp'),
    wrong: ['', 'X Acme', 'X-Acme:', 'X\nY', 1],
  },
  'webhook.signatureHeader': { right: same('x-sig'), wrong: ['', ' x', null] },
};

export const sampleNames = Object.keys(samples) as FileId[];

/** Returns JSON as bytes; `__proto__` is an ordinary key in it. */
export const bytesOf = (json: unknown) =>
  new TextEncoder().encode(typeof json === 'string' ? json : JSON.stringify(json));

/** Returns the values that sources give together. */
export const valuesOf = (sources: readonly SettingSource[]) =>
  Object.fromEntries(Object.entries(mergeSettings(sources)).map(([name, { value }]) => [name, value]));
