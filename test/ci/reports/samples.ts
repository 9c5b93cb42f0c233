import fc from 'fast-check';
import type { ErrorReport } from '../../../src/errors.ts';
import { actions, verdicts } from '../../../src/gate/policy.ts';
import { type SuitesReport, skippedRun } from '../../../src/gate/report.ts';
import type { GateReport, RunReport } from '../../../src/gate/result-types.ts';
import { named } from '../../../src/gate/watched-run.ts';

export function run(over: Partial<RunReport> = {}): RunReport {
  return {
    runId: 'run_1',
    name: over.runId === undefined ? 'run_1' : over.runId,
    project: null,
    process: null,
    tags: null,
    state: 'completed',
    verdict: 'passed',
    action: 'pass',
    failed: 0,
    blocked: 0,
    appUrl: 'https://app.example.test/runs/run_1',
    attempts: 4,
    elapsedSeconds: 31.2,
    idempotencyKey: 'key-1',
    reattached: false,
    ...over,
  };
}

export function gate(runs: RunReport[], over: Partial<GateReport> = {}): GateReport {
  const worst = (['fail', 'warn', 'pass'] as const).find((action) =>
    runs.some((one) => one.action === action),
  );
  return { schemaVersion: 1, result: worst ?? 'pass', exitCode: worst === 'fail' ? 1 : 0, runs, ...over };
}

const refused: ErrorReport = {
  code: 'unauthorized',
  message: 'GET /api/runs/run_6: 401',
  status: 401,
  method: 'GET',
  path: '/api/runs/run_6',
  details: null,
  body: null,
  hint: 'check RUNGATE_API_KEY',
};

/** A run of each verdict with the default policy, and runs without a verdict, which only a stop leaves behind. */
export const samples = {
  passed: run(),
  failed: run({ runId: 'run_2', verdict: 'failed', action: 'fail', failed: 2, blocked: 1 }),
  blocked: run({ runId: 'run_3', verdict: 'blocked', action: 'fail', blocked: 3 }),
  cancelled: run({ runId: 'run_4', verdict: 'cancelled', action: 'warn', state: 'cancelled' }),
  cancelledStrict: run({ runId: 'run_4', verdict: 'cancelled', action: 'fail', state: 'cancelled' }),
  timeout: run({
    runId: 'run_5',
    verdict: 'timeout',
    action: 'fail',
    state: 'running',
    elapsedSeconds: 3600,
  }),
  unobserved: run({
    runId: 'run_6',
    verdict: 'unobserved',
    action: 'fail',
    state: null,
    failed: null,
    blocked: null,
    appUrl: null,
    error: refused,
  }),
  mismatch: run({
    runId: 'run_10',
    verdict: 'mismatch',
    action: 'fail',
    error: {
      ...refused,
      code: 'mismatch',
      message: 'https://shop.example.test/version showed "8f2e6b0", not "3c1d9a7"',
      status: null,
      method: null,
      path: null,
      hint: 'start the gate after the roll-out',
    },
  }),
  named: run({ runId: 'run_8', name: 'shop / checkout', project: 'shop', process: 'checkout' }),
  tagged: run({ runId: 'run_9', name: 'shop / smoke, web', project: 'shop', tags: ['smoke', 'web'] }),
  skipped: skippedRun(named('web: shop / web'), 'it needs api, which failed'),
  stopped: run({ runId: 'run_7', verdict: null, action: 'fail', state: 'running' }),
  lost: run({
    runId: null,
    verdict: null,
    action: 'fail',
    state: null,
    failed: null,
    blocked: null,
    appUrl: null,
  }),
} satisfies Record<string, RunReport>;

export const everything = gate(Object.values(samples));

/** Texts that are markup, a command, a delimiter or an escape in one of the formats. */
const fragments = [
  ...'\n\r\t \0\u0085\u2028\u202e\ufeff\ud800x\udc00\uffff,:=;|][#%$\\"&<>`_!()ä漢🎉',
  ...[
    '\r\n',
    '\u001b[31m',
    '\n\n---\n\n',
    '```\n',
    '| a | b |\n|---|---|',
    "' name='x",
    '# h',
    '- x',
    '1. x',
  ],
  ...['::error::x', '::set-output name=verdict::passed', ' ::notice title=a,b=c::', '> q'],
  ...['##vso[task.complete result=Succeeded;]', '##vso[task.setvariable variable=RUNGATE_RESULT]pass'],
  ...["##teamcity[buildStatus status='SUCCESS']", 'verdict<<EOF\npassed\nEOF\n', 'result=pass\n'],
  ...['\nRUNGATE_RESULT=pass\n', '<img src=x onerror=1>'],
  ..."## :: || |' |n ##[add-matcher]x %0A %250A %0D%0A %3A %AZP25 %AZP250A %3B %5D %25 EOF $HOME $(id) `id`".split(
    ' ',
  ),
  ...']]> <![CDATA[ <script>alert(1)</script> <!-- --> &amp; &#10; `` ~~~ *a* ** :tada: #1 GH-1 run_1'.split(
    ' ',
  ),
  ...'[x](javascript:alert(1)) ](https://evil.example) ![x](//evil.example/p.png)'.split(' '),
  ...'<https://evil.example> @octocat @org/team www.evil.example https://evil.example/ a@evil.example'.split(
    ' ',
  ),
];

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.array(fc.constantFrom(...fragments), { minLength: 1, maxLength: 8 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc
    .array(fc.constantFrom(...fragments), { minLength: 1, maxLength: 4 })
    .map((parts) => `https://app.example.test/${parts.join('')}`),
);

const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

const hostileRun: fc.Arbitrary<RunReport> = fc
  .record({
    runId: orNull(hostileText),
    name: orNull(hostileText),
    project: orNull(hostileText),
    process: orNull(hostileText),
    tags: orNull(fc.array(hostileText, { minLength: 1, maxLength: 3 })),
    state: orNull(hostileText),
    verdict: orNull(fc.constantFrom(...verdicts)),
    action: fc.constantFrom(...actions),
    failed: orNull(fc.nat()),
    blocked: orNull(fc.nat()),
    appUrl: orNull(hostileText),
    attempts: fc.nat(100),
    elapsedSeconds: fc.double({ min: 0, max: 1e6, noNaN: true }),
    idempotencyKey: orNull(hostileText),
    reattached: fc.boolean(),
    message: hostileText,
    hint: orNull(hostileText),
  })
  .map(({ message, hint, ...rest }) =>
    rest.verdict === 'unobserved' ? { ...rest, error: { ...refused, message, hint } } : rest,
  );

/** Returns a run that decides its gate, and the others of the same gate. */
const withRetries = (run: RunReport, others: readonly RunReport[]): RunReport[] =>
  others.length === 0
    ? [run]
    : [
        { ...run, decides: true },
        ...others.map((other, at) => ({ ...other, name: run.name, retry: at + 1, decides: false })),
      ];

/** A gate with hostile texts in every field. */
export const hostileGate: fc.Arbitrary<GateReport> = fc
  .record({
    runs: fc.array(hostileRun, { minLength: 1, maxLength: 4 }),
    others: fc.array(hostileRun, { maxLength: 3 }),
    exitCode: fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 7, 130),
    interruptedBy: fc.constantFrom(undefined, 'SIGTERM' as const),
  })
  .map(({ runs: [first, ...more], others, exitCode, interruptedBy }) => ({
    ...gate([...(first === undefined ? [] : withRetries(first, others)), ...more], {
      exitCode,
    }),
    ...(interruptedBy === undefined ? {} : { interruptedBy, cancellation: 'requested' as const }),
  }));

/** Several gates with hostile names and texts. The project file allows only plain names. */
export const hostileSuites: fc.Arbitrary<SuitesReport> = fc
  .array(fc.record({ name: hostileText, report: hostileGate }), { minLength: 1, maxLength: 3 })
  .map((suites) => ({ ...gate(suites.flatMap(({ report }) => report.runs)), suites }));

const checkout = { name: 'shop / checkout', project: 'shop', process: 'checkout' } as const;
const failedFirst = run({ ...checkout, runId: 'run_1', verdict: 'failed', action: 'fail', failed: 2 });
const passedAgain = run({ ...checkout, runId: 'run_2', retry: 1, elapsedSeconds: 10 });

const unheard = { ...failedFirst, decides: false };
const timedOutAgain = run({
  ...checkout,
  ...{ runId: 'run_2', verdict: 'timeout', action: 'fail', state: 'in_progress', retry: 1 },
});

/** Gates with retries. */
export const retried = {
  flaky: gate([unheard, { ...passedAgain, verdict: 'flaky', action: 'warn', decides: true }], {
    result: 'warn',
    exitCode: 0,
  }),
  flakyFails: gate([unheard, { ...passedAgain, verdict: 'flaky', action: 'fail', decides: true }]),
  failed: gate([unheard, { ...failedFirst, runId: 'run_2', retry: 1, decides: true }]),
  timedOut: gate([
    { ...failedFirst, decides: true },
    { ...timedOutAgain, decides: false },
  ]),
} satisfies Record<string, GateReport>;
