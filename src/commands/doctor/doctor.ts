import { lookup } from 'node:dns/promises';
import { HttpError, NetworkError, RungateError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import type { Tone } from '../../output/paint.ts';
import { wrapWords } from '../../output/text.ts';
import { excerpt } from '../../sanitize.ts';
import { version } from '../../version.ts';
import { ciContext } from '../ci-context.ts';
import type { Context } from '../context.ts';
import { namesOf } from '../source-names.ts';
import {
  type Check,
  check,
  checkArea,
  checkCi,
  checkClock,
  checkCredentials,
  checkLimits,
  checkProxy,
  checkSettings,
  failed,
  type ProbeResult,
} from './checks.ts';
import { probes, sendProbe } from './probes.ts';
import { checkVariables } from './unread-variables.ts';

/** Each step goes on from the one before; what cannot be looked at any more is left out. */
async function* examine(context: Context): AsyncGenerator<Check> {
  const { io, settings, sources } = context;
  yield check('version', 'ok', `rungate ${version}`);
  yield checkSettings(settings, sources);
  const variables = checkVariables(io.env);
  if (variables !== null) yield variables;
  yield checkCredentials(settings, sources);
  yield checkCi(await ciContext(io));
  yield checkProxy(io.env);

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
      // One try each: a doctor tells what is, and a limit is no reason to wait here.
      result = { reply: await sendProbe(caller, probe) };
    } catch (error) {
      result = { error };
    }
    if ('error' in result && result.error instanceof NetworkError) {
      yield failed(result.error.fault === 'tls' ? 'tls' : 'connection', result.error);
      return;
    }
    if (!answered && ('reply' in result || result.error instanceof HttpError)) {
      answered = true;
      yield reached(url, io.clock.monotonic() - began);
    }
    if ('reply' in result) {
      if (headers.length === 0) yield checkClock(result.reply.headers.date, sentAt, io.clock.now());
      headers.push(result.reply.headers);
    }
    yield checkArea(probe, result, settings);
  }
  if (answered) yield checkLimits(headers);
  else yield check('connection', 'skip', 'not tried: without a credential nothing is sent');
}

function reached(url: URL, ms: number): Check {
  const how =
    url.protocol === 'https:' ? 'TLS connection and certificate are good' : 'plain HTTP, without TLS';
  return check('connection', 'ok', `${url.origin} answers in ${Math.round(ms)} ms; ${how}`);
}

async function checkDns(hostname: string, setting: string): Promise<Check> {
  const host = hostname.replace(/^\[|\]$/g, '');
  try {
    const found = await lookup(host, { all: true });
    const addresses = found.map(({ address }) => address).join(', ');
    return check('dns', 'ok', excerpt(`${host} is ${addresses}`, 200));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'no answer';
    // Behind a proxy, the proxy looks the name up: this is a warning, and the connection decides.
    const hint = `check the host in ${setting}; behind a proxy this may be as it should`;
    return check('dns', 'warn', `${host} has no address here (${code})`, hint);
  }
}

const marks = {
  ok: ['good', '✓'],
  warn: ['warn', '!'],
  fail: ['bad', '✗'],
  skip: ['dim', '-'],
} as const satisfies Record<Check['status'], readonly [Tone, string]>;

/** `rungate doctor`: what works, step by step; exits 0, or with the code of the first thing wrong. */
export async function doctorCommand(context: Context): Promise<number> {
  const { io, output } = context;
  // As for all that is said: a terminal's lines break at words, a log's not at all.
  const columns = io.out.isTTY ? (io.out.columns ?? 80) : Number.POSITIVE_INFINITY;
  const json = output.format === 'json' || output.format === 'ndjson';
  const checks: Check[] = [];
  for await (const one of examine(context)) {
    checks.push(one);
    if (json) continue;
    const [tone, mark] = marks[one.status];
    const say = (text: string, indent: string) =>
      output.result(`${wrapWords(text, columns, indent).join('\n')}\n`);
    await say(`${output.paint(tone, mark)} ${one.name}: ${output.excerpt(one.detail, 1000)}`, '    ');
    if (one.remedy !== null && one.status !== 'ok')
      await say(`    → ${output.excerpt(one.remedy, 400)}`, '      ');
  }
  const exitCode = checks.find((one) => one.status === 'fail')?.exitCode ?? exitCodes.ok;
  if (json)
    await output.data(
      { schemaVersion: 1, ok: exitCode === exitCodes.ok, exitCode, checks },
      { head: [], rows: [] },
    );
  return exitCode;
}
