import { describe, expect, it } from 'vitest';
import { versionIn } from '../../../src/gate/deployed/read-version.ts';

describe('a version page', () => {
  it.each([
    ['text', ' 1.2.3\r\n', undefined, '1.2.3'],
    ['a string in JSON', '{"build":{"commit":" abc "}}', '/build/commit', 'abc'],
    ['a number, with all its digits', '{"version":1.10}', '/version', '1.10'],
    ['a name with a slash', '{"a/b":"c"}', '/a~1b', 'c'],
    ['JSON without a pointer', '{"version":"1"}', undefined, '{"version":"1"}'],
  ])('with %s shows it', (_what, body, pointer, text) => {
    expect(versionIn(body, pointer)).toEqual({ text });
  });

  it.each([
    ['nothing', ' \n', undefined, 'the version is empty'],
    ['markup', ' <!doctype html><p>abc1234</p>', undefined, 'the response is markup, not a version'],
    ['compressed text', 'abc1234\u001f\ufffd', undefined, 'the response is not readable text'],
    ['a control character in JSON', '{"v":"a\\u001b[31m"}', '/v', 'the response is not readable text'],
    ['half of the JSON', '{"version":"abc', '/version', 'the response is not JSON'],
    ['another field', '{"versions":"abc"}', '/version', 'the response has nothing at /version'],
    ['the field twice', '{"v":{"id":1,"id":2}}', '/v/id', 'the response has "id" twice'],
    ['an object', '{"version":{"a":1}}', '/version', '/version is not a string or a number'],
    ['a property of every object', '{}', '/constructor', 'the response has nothing at /constructor'],
    ['a deep array', `${'['.repeat(30_000)}${']'.repeat(30_000)}`, '/0', '/0 is not a string or a number'],
  ])('with %s shows no version', (_what, body, pointer, problem) => {
    expect(versionIn(body, pointer)).toEqual({ problem });
  });
});
