import fc from 'fast-check';
import markdownIt, { type Token } from 'markdown-it';
import { describe, expect, it, test } from 'vitest';
import { markdownReport } from '../../../src/ci/reports/markdown.ts';
import { othersOf } from '../../../src/ci/reports/wording.ts';
import { shownAs } from '../../../src/gate/policy.ts';
import { decidingRuns } from '../../../src/gate/report.ts';
import { everything, gate, hostileGate, retried, run, samples } from './samples.ts';

/** A parser of GitHub's Markdown that passes HTML through and turns addresses into links. */
const parser = markdownIt({ html: true, linkify: true });

function flat(tokens: readonly Token[]): Token[] {
  return tokens.flatMap((token) => [token, ...flat(token.children ?? [])]);
}

const read = (text: string) => flat(parser.parse(text, {}));
const bytes = (text: string) => Buffer.byteLength(text);

describe('the summary in Markdown', () => {
  it('begins with the result of the gate and lists failed runs before passed ones', () => {
    expect(markdownReport(everything)).toMatchInlineSnapshot(`
      "### ❌ rungate: gate failed (exit 1)

      | | Run | Verdict | State | Failed | Blocked | |
      |---|---|---|---|---:|---:|---|
      | ❌ | \`run_2\` | failed | \`completed\` | 2 | 1 | [open](https://app.example.test/runs/run_1) |
      | ❌ | \`run_3\` | blocked | \`completed\` | 0 | 3 | [open](https://app.example.test/runs/run_1) |
      | ❌ | \`run_4\` | cancelled | \`cancelled\` | 0 | 0 | [open](https://app.example.test/runs/run_1) |
      | ❌ | \`run_5\` | timeout | \`running\` | 0 | 0 | [open](https://app.example.test/runs/run_1) |
      | ❌ | \`run_6\` | unobserved | – | – | – | – |
      | ❌ | \`run_10\` | mismatch | \`completed\` | 0 | 0 | [open](https://app.example.test/runs/run_1) |
      | ❌ | \`web: shop / web\` | skipped | – | – | – | – |
      | ❌ | \`run_7\` | stopped | \`running\` | 0 | 0 | [open](https://app.example.test/runs/run_1) |
      | ❌ | – | stopped | – | – | – | – |
      | ⚠️ | \`run_4\` | cancelled | \`cancelled\` | 0 | 0 | [open](https://app.example.test/runs/run_1) |
      | ✅ | \`run_1\` | passed | \`completed\` | 0 | 0 | [open](https://app.example.test/runs/run_1) |
      | ✅ | \`shop / checkout\` (\`run_8\`) | passed | \`completed\` | 0 | 0 | [open](https://app.example.test/runs/run_1) |
      | ✅ | \`shop / smoke, web\` (\`run_9\`) | passed | \`completed\` | 0 | 0 | [open](https://app.example.test/runs/run_1) |

      - run \`run_2\` failed: 2 failed, 1 blocked
      - run \`run_3\` blocked: 0 failed, 3 blocked
      - run \`run_4\` was cancelled before it finished
      - run \`run_5\` had not ended after 1 h and 4 status reads (state \`running\`) → \`increase --timeout; --cancel-on-timeout cancels a run that times out\`
      - run \`run_6\` could not be observed: \`GET /api/runs/run_6: 401\` → \`check RUNGATE_API_KEY\`
      - run \`run_10\` did not test only the expected build: \`https://shop.example.test/version showed "8f2e6b0", not "3c1d9a7"\` (0 failed, 0 blocked) → \`start the gate after the roll-out\`
      - \`web: shop / web\` was skipped: \`it needs api, which failed\`
      - run \`run_7\` had not ended when rungate was stopped
      - a run may have been created; find it by its idempotency key \`key-1\`
      - run \`run_4\` was cancelled before it finished → \`the gate lets it pass; --on cancelled=fail makes it fail\`
      "
    `);
  });

  it('has both runs of a flaky gate', () => {
    const text = markdownReport(retried.flaky);
    expect(text).toContain(
      '- `shop / checkout` (run `run_2`) passed only on retry 1, after a failed run: 0 failed, 0 blocked',
    );
    expect(text).toContain('  - first run: run `run_1` failed: 2 failed, 0 blocked [open](');
  });

  it('fits its limit by leaving out passed runs first, with a note', () => {
    const passed = Array.from({ length: 20_000 }, (_, index) => run({ runId: `run_${index}` }));
    const report = gate([...passed, samples.failed]);
    const text = markdownReport(report);
    expect(bytes(text)).toBeLessThanOrEqual(1024 * 1024);
    expect(bytes(text)).toBeGreaterThan(900 * 1024);
    expect(text).toContain('`run_2` failed: 2 failed, 1 blocked');
    expect(text).toMatch(/\d+ more runs did not fit here: the log has the full result\./);
    for (const limit of [100_000, 1000, 400, 200, 100, 10, 0, -5]) {
      expect(bytes(markdownReport(report, limit))).toBeLessThanOrEqual(Math.max(0, limit));
    }
  });

  test('has exactly the intended markup for hostile texts', () => {
    fc.assert(
      fc.property(hostileGate, (report) => {
        const tokens = read(markdownReport(report));
        const count = (type: string) => tokens.filter((token) => token.type === type).length;
        expect(
          tokens.filter((token) => /^(html|image|fence|code_block|hr|blockquote)/.test(token.type)),
        ).toEqual([]);
        expect([count('heading_open'), count('table_open'), count('tr_open')]).toEqual([
          1,
          1,
          decidingRuns(report).length + 1,
        ]);
        expect(count('td_open')).toBe(7 * decidingRuns(report).length);
        const notable = decidingRuns(report).filter((one) => shownAs(one) !== 'pass');
        const others = notable.flatMap((one) => othersOf(one, report));
        expect(count('list_item_open')).toBe(notable.length + others.length);
        expect(count('em_open') + count('strong_open') + count('s_open')).toBe(0);
        for (const token of tokens) {
          // Text outside code comes from rungate and contains no mention, reference or address.
          if (token.type === 'text') expect(token.content).toMatch(/^(?:[\w :;,.()–→'-]|✅|⚠️|❌)*$/u);
          if (token.type === 'link_open')
            expect(token.attrGet('href')).toMatch(/^https?:\/\/[\w.~:/?#%=+,;@&-]+$/);
        }
        expect(
          tokens.filter(
            (token, index) => token.type === 'link_open' && tokens[index + 1]?.content !== 'open',
          ),
        ).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
