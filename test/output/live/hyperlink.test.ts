import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hyperlink, linkTarget, supportsLinks } from '../../../src/output/live/hyperlink.ts';

describe('supportsLinks', () => {
  it.each([
    [true, { TERM_PROGRAM: 'iTerm.app' }],
    [true, { VTE_VERSION: '5202' }],
    [false, { VTE_VERSION: '5000' }],
    [true, { TERM: 'xterm-kitty' }],
    [false, { TERM: 'dumb', VTE_VERSION: '7000' }],
    [true, { FORCE_HYPERLINK: '1', TERM: 'dumb' }],
    [false, { FORCE_HYPERLINK: '0', TERM: 'xterm-kitty' }],
    // The multiplexer decides, not the outer terminal, whose variables are still set.
    [false, { TERM: 'screen-256color', STY: '1.x', VTE_VERSION: '7000' }],
    [true, { TERM: 'tmux-256color', TMUX: '/tmp/t', TERM_PROGRAM: 'tmux' }],
  ] as const)('is %s for %o', (known, env) => {
    expect(supportsLinks(env)).toBe(known);
  });
});

describe('linkTarget', () => {
  it.each([
    ['https://app.example.test/runs/1?a=b#c', 'https://app.example.test/runs/1?a=b#c'],
    ['HTTPS://App.Example.Test/', 'https://app.example.test/'],
    ['https://app.example.test/日本', 'https://app.example.test/%E6%97%A5%E6%9C%AC'],
    ['javascript:alert(1)', null],
    ['https://a/\u0007\u001b]8;;file:///x', null],
    ['https://a/\u009c', null],
    ['', null],
  ])('of %j is %j', (url, target) => expect(linkTarget(url)).toBe(target));

  it('of any text cannot end the link early or control the terminal', () => {
    const url = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.webUrl(),
      fc.string().map((text) => `https://a/${text}`),
    );
    fc.assert(
      fc.property(url, (any) => {
        const link = hyperlink(any, 'run');
        if (link === 'run') return;
        expect(link).toMatch(/^\u001b\]8;;https?:\/\/[\x21-\x7e]+\u001b\\run\u001b\]8;;\u001b\\$/);
      }),
    );
  });
});
