import { lookup } from 'node:dns/promises';
import type { Command } from 'commander';
import { HttpError, NetworkError, RungateError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { type OpenPage, openPage } from '../../gate/deployed/open.ts';
import { hubOpener } from '../../library/open-gate.ts';
import { type Tone, wrapWords } from '../../output/text.ts';
import { excerpt } from '../../sanitize.ts';
import { version } from '../../version.ts';
import { type Bind, examples } from '../binding.ts';
import { ciContext } from '../ci-context.ts';
import type { Context } from '../context.ts';
import { pageOptions } from '../run/deployed.ts';
import { openOptions } from '../run/hub.ts';
import { namesOf } from '../source-names.ts';
import {
  type Check,
  check,
  checkArea,
  checkCi,
  checkClock,
  checkCredentials,
  checkDeployed,
  checkGates,
  checkLimits,
  checkProxy,
  checkSettings,
  checkWorkflows,
  failed,
  type ProbeResult,
} from './checks.ts';
import { probes, sendProbe } from './probes.ts';
import { checkVariables } from './unread-variables.ts';

export function defineDoctor(command: Command, bind: Bind): void {
  command.description(
    'Check settings, CI, workflows, proxy, DNS, TLS, clock and credentials, and suggest fixes. It changes nothing. Exits with 0, or with the exit code of the first failed check. The output never contains secrets, so you can attach the output of --json to a bug report.',
  );
  examples(command, 'rungate doctor', 'rungate doctor --json  # for a bug report');
  bind(command, {
    showsUnreadable: true,
    run: (context) => doctorCommand(context),
  });
}

const remedy = 'check Redis, and the log of the hub';

/** A hub that cannot be used is a warning, since gates poll by themselves then. @throws ConfigError if its URL is invalid */
export async function checkHub(context: Context): Promise<Check | null> {
  const { clock } = context.io;
  const began = clock.monotonic();
  const problems: RungateError[] = [];
  const openHub = await hubOpener(openOptions(context));
  const hub = await openHub?.((event) => {
    if (event.type === 'hub' && event.error !== null) problems.push(event.error);
  });
  try {
    await hub?.link.watch([], new AbortController().signal);
    const [problem] = problems;
    if (problem !== undefined) return { ...failed('hub', problem), status: 'warn', exitCode: 0 };
    if (hub === undefined) return null;
    const detail = `the hub accepted the token in ${Math.round(clock.monotonic() - began)} ms`;
    if (await hub.isDegraded())
      return check(
        'hub',
        'warn',
        `${detail}, but its Redis does not work: it grants its share of the limits`,
        remedy,
      );
    return check('hub', 'ok', detail);
  } finally {
    await hub?.close();
  }
}

/** Runs the checks in order. A failure ends the sequence if later checks depend on it. */
async function* examine(context: Context): AsyncGenerator<Check> {
  const { io, settings, sources } = context;
  yield check('version', 'ok', `rungate ${version}`);
  yield checkSettings(settings, sources);
  const gates = checkGates(sources);
  if (gates !== null) yield gates;
  const variables = checkVariables(io);
  if (variables !== null) yield variables;
  yield checkCredentials(settings, sources);
  const ci = await ciContext(io);
  yield checkCi(ci);
  const workflows = checkWorkflows(io);
  if (workflows !== null) yield workflows;
  yield checkProxy(io.env);
  const deployed = await examineDeployed(context, ci.commitSha);
  if (deployed !== null) yield deployed;
  const hub = await hubCheck(context);
  if (hub !== null) yield hub;

  let caller: Awaited<ReturnType<Context['connect']>>;
  try {
    caller = await context.connect();
  } catch (error) {
    if (!(error instanceof RungateError)) throw error;
    yield failed('service', error);
    return;
  }
  const url = new URL(settings.apiUrl?.value ?? '');
  yield await context.output.motion.during(
    `looking up ${url.hostname}`,
    checkDns(url.hostname, namesOf(settings).apiUrl),
  );

  const headers: Record<string, string>[] = [];
  let answered = false;
  for (const probe of probes) {
    const sentAt = io.clock.now();
    const began = io.clock.monotonic();
    let result: ProbeResult;
    try {
      // A single attempt: doctor reports the current state, and does not wait for a rate limit.
      result = { response: await sendProbe(caller, probe) };
    } catch (error) {
      result = { error };
    }
    if ('error' in result && result.error instanceof NetworkError) {
      yield failed(result.error.fault === 'tls' ? 'tls' : 'connection', result.error);
      return;
    }
    if (!answered && ('response' in result || result.error instanceof HttpError)) {
      answered = true;
      yield reached(url, io.clock.monotonic() - began);
    }
    if ('response' in result) {
      if (headers.length === 0) yield checkClock(result.response.headers.date, sentAt, io.clock.now());
      headers.push(result.response.headers);
    }
    yield checkArea(probe, result, settings);
  }
  if (answered) yield checkLimits(headers);
  else yield check('connection', 'skip', 'not checked: rungate sends nothing without a credential');
}

async function examineDeployed(context: Context, commit: string | null): Promise<Check | null> {
  if (context.settings['deployed.url'] === undefined) return null;
  const expected = context.settings['deployed.is']?.value ?? commit;
  let page: OpenPage | undefined;
  try {
    page = openPage({ ...(await pageOptions(context, {})), expected: expected ?? '' });
    return await checkDeployed(page, expected);
  } catch (error) {
    if (!(error instanceof RungateError)) throw error;
    return failed('deployed build', error);
  } finally {
    await page?.close();
  }
}

/** Checks the hub. An invalid URL stops every gate, so it is a failure. */
async function hubCheck(context: Context): Promise<Check | null> {
  try {
    return await context.output.motion.during('connecting with the hub', checkHub(context));
  } catch (error) {
    if (!(error instanceof RungateError)) throw error;
    return failed('hub', error);
  }
}

function reached(url: URL, ms: number): Check {
  const how =
    url.protocol === 'https:' ? 'TLS connection and certificate are valid' : 'plain HTTP, without TLS';
  return check('connection', 'ok', `${url.origin} responded in ${Math.round(ms)} ms; ${how}`);
}

async function checkDns(hostname: string, setting: string): Promise<Check> {
  const host = hostname.replace(/^\[|\]$/g, '');
  try {
    const found = await lookup(host, { all: true });
    const addresses = found.map(({ address }) => address).join(', ');
    return check('dns', 'ok', excerpt(`${host} resolves to ${addresses}`, 200));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'no response';
    // Only a warning: behind a proxy, the proxy resolves the name. The connection check decides.
    const hint = `check the host in ${setting}; behind a proxy, you can ignore this`;
    return check('dns', 'warn', `${host} could not be resolved (${code})`, hint);
  }
}

const marks = {
  ok: ['good', '✓'],
  warn: ['warn', '!'],
  fail: ['bad', '✗'],
  skip: ['dim', '-'],
} as const satisfies Record<Check['status'], readonly [Tone, string]>;

/** `rungate doctor`: prints the checks. Returns 0, or the exit code of the first failed check. */
export async function doctorCommand(context: Context): Promise<number> {
  const { io, output } = context;
  // As in all output, lines break at words on a terminal, and not at all in a log.
  const columns = io.out.isTTY ? (io.out.columns ?? 80) : Number.POSITIVE_INFINITY;
  const json = output.format === 'json' || output.format === 'ndjson';
  const checks: Check[] = [];
  for await (const one of examine(context)) {
    checks.push(one);
    if (json) continue;
    const [tone, mark] = marks[one.status];
    const print = (text: string, indent: string) =>
      output.result(`${wrapWords(text, columns, indent).join('\n')}\n`);
    await print(`${output.paint(tone, mark)} ${one.name}: ${output.excerpt(one.detail, 1000)}`, '    ');
    if (one.remedy !== null && one.status !== 'ok')
      await print(`    → ${output.excerpt(one.remedy, 400)}`, '      ');
  }
  const exitCode = checks.find((one) => one.status === 'fail')?.exitCode ?? exitCodes.ok;
  if (json)
    await output.data(
      { schemaVersion: 1, ok: exitCode === exitCodes.ok, exitCode, checks },
      { head: [], rows: [] },
    );
  return exitCode;
}
