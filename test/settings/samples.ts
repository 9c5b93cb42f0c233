import type { FileId, OptionValues } from '../../src/options/table.ts';
import { mergeSettings } from '../../src/settings/merge.ts';
import type { SettingSource } from '../../src/settings/names.ts';

interface Samples<Value> {
  /** Pairs of the JSON in a file and the value it stands for. */
  right: readonly (readonly [unknown, Value])[];
  wrong: readonly unknown[];
}

const texts = { wrong: ['', ' ', '\t', 'a\nb', 1, true, null, [], {}] };

/** Valid and invalid values of every setting, as JSON in a file. */
export const samples: { readonly [Name in FileId]: Samples<OptionValues[Name]> } = {
  apiUrl: {
    right: [
      ['https://ci.example', 'https://ci.example'],
      ['http://127.0.0.1:9', 'http://127.0.0.1:9'],
    ],
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
    right: [
      [[], []],
      [[`shop@sha256:${'a'.repeat(64)}`], [`shop@sha256:${'a'.repeat(64)}`]],
      [
        [`localhost:5000/a/b:1.2@SHA256:${'A'.repeat(64)}`],
        [`localhost:5000/a/b:1.2@SHA256:${'A'.repeat(64)}`],
      ],
    ],
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
    right: [
      ['https://hub.example', 'https://hub.example'],
      ['http://127.0.0.1:4020/prefix', 'http://127.0.0.1:4020/prefix'],
    ],
    wrong: ['', 'hub.example', 'https://token@hub.example', 'https://hub.example?token=1', 1],
  },
  project: { right: [['shop', 'shop']], ...texts },
  process: { right: [['checkout', 'checkout']], ...texts },
  tags: {
    right: [
      [['smoke'], ['smoke']],
      [
        ['a', 'b c'],
        ['a', 'b c'],
      ],
    ],
    wrong: [[], [''], [' '], ['a', 1], 'smoke', {}, null, [['a']]],
  },
  environment: { right: [['staging', 'staging']], ...texts },
  strict: {
    right: [
      [true, true],
      [false, false],
    ],
    wrong: ['true', 0, 1, null, [], {}],
  },
  on: {
    right: [
      [{}, {}],
      [{ cancelled: 'fail' }, { cancelled: 'fail' }],
      [
        { failed: 'warn', flaky: 'fail', timeout: 'warn', unobserved: 'fail' },
        { failed: 'warn', flaky: 'fail', timeout: 'warn', unobserved: 'fail' },
      ],
    ],
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
    right: [
      [1, 1],
      [120, 120],
    ],
    wrong: [0, -1, 1.5, 1e9, '60', null, true],
  },
  timeout: { right: [['2h', 7_200_000]], wrong: ['0', 'never', 0, null] },
  retries: {
    right: [
      [0, 0],
      [10, 10],
    ],
    wrong: [-1, 11, 1.5, '1', null, true],
  },
  format: {
    right: [
      ['table', 'table'],
      ['json', 'json'],
    ],
    wrong: ['plain', 'yaml', 'JSON', '', 1, null],
  },
  auth: {
    right: [
      ['bearer', 'bearer'],
      ['key', 'key'],
    ],
    wrong: ['token', '', null],
  },
  caFile: { right: [['/etc/ssl/own.pem', '/etc/ssl/own.pem']], ...texts },
  'run.idPointer': { right: [['/data/runId', '/data/runId']], wrong: ['', 'data/runId', '$.id', 1] },
  'env.providerModelField': { right: [['anthropicModel', 'anthropicModel']], ...texts },
  'preview.baseUrl': {
    right: [['https://shop-42.preview.example/?key=1', 'https://shop-42.preview.example/?key=1']],
    wrong: ['', 'automatic', '/', 'shop.example', 'ftp://shop.example', 'https://a:b@shop.example', 1],
  },
  'preview.readyUrl': {
    right: [
      ['https://shop.example/healthz', 'https://shop.example/healthz'],
      ['/healthz', '/healthz'],
    ],
    wrong: ['', 'healthz', '//shop.example', 'https://a/#b', 1],
  },
  'preview.readyTimeout': { right: [['10m', 600_000]], wrong: ['0', 'never', null] },
  'preview.copyVariables': { right: [[true, true]], wrong: ['true', 1, null] },
  'deployed.url': {
    right: [
      ['https://shop.example.com/version?format=text', 'https://shop.example.com/version?format=text'],
      [' http://localhost:3000/version ', 'http://localhost:3000/version'],
      ['/version.json', '/version.json'],
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
  'deployed.pointer': { right: [['/build/commit', '/build/commit']], wrong: ['', 'version', 1] },
  'deployed.is': { right: [['1.2.3', '1.2.3']], wrong: ['', ' ', 'a\nb', 1] },
  'deployed.timeout': { right: [['10m', 600_000]], wrong: ['0', 'never', null] },
  'webhook.timestampHeader': {
    right: [['X-Acme-Timestamp', 'X-Acme-Timestamp']],
    wrong: ['', 'X Acme', 'X-Acme:', 'X\nY', 1],
  },
  'webhook.signatureHeader': { right: [['x-sig', 'x-sig']], wrong: ['', ' x', null] },
};

export const sampleNames = Object.keys(samples) as FileId[];

/** Returns JSON as bytes; `__proto__` is an ordinary key in it. */
export const bytesOf = (json: unknown) =>
  new TextEncoder().encode(typeof json === 'string' ? json : JSON.stringify(json));

/** Returns the values that sources give together. */
export const valuesOf = (sources: readonly SettingSource[]) =>
  Object.fromEntries(Object.entries(mergeSettings(sources)).map(([name, { value }]) => [name, value]));
