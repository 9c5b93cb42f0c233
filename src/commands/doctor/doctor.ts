import { lookup } from 'node:dns/promises';
import type { Caller } from '../../client/caller.ts';
import { NetworkError, RungateError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { openPage } from '../../gate/deployed/open.ts';
import { openHubOf } from '../../library/open-gate.ts';
import { wantsJson } from '../../output/json.ts';
import { type Tone, wrapWords } from '../../output/text.ts';
import { excerpt } from '../../sanitize.ts';
import { artifactsOf, versionsOf } from '../../subject.ts';
import { ciContext, gitRefusal } from '../ci-context.ts';
import type { Context } from '../context.ts';
import { pageOptions } from '../run/deployed.ts';
import { openOptions } from '../run/run-gates.ts';
import { command } from '../spec.ts';
import { unreadVariables } from '../unread-variables.ts';
import {
  check,
  checkArea,
  checkCi,
  checkClock,
  checkCredentials,
  checkFileGates,
  checkProxy,
  checkSettings,
  checkToken,
  checkWorkflows,
  type DoctorCheck,
  failed,
  mergedAreas,
  refusesToken,
  warned,
} from './checks.ts';
import { isAnswer, type Probe, type ProbeResult, probes, sendProbe } from './probes.ts';
import { checkSelection } from './selection.ts';

/** A hub that cannot be used is a warning, since gates poll by themselves then. @throws ConfigError if its URL is invalid */
async function checkHub(context: Context): Promise<DoctorCheck | null> {
  const { clock } = context.io;
  const began = clock.monotonic();
  const problems: RungateError[] = [];
  const hub = await openHubOf(openOptions(context));
  const link = hub?.link({ name: null, onChange: (error) => error !== null && problems.push(error) });
  try {
    await link?.watch([]);
    const [error] = problems;
    if (error !== undefined) return warned('hub', error);
    if (hub === undefined) return null;
    const detail = `the hub accepted the token in ${Math.round(clock.monotonic() - began)} ms`;
    const status = await hub.status();
    if (status === 'ok') return check('hub', 'ok', detail);
    const reasons = 'see the response of the hub to GET /readyz for the reasons';
    return check('hub', 'warn', `${detail}, but the hub is ${status}`, reasons);
  } finally {
    await hub?.close();
  }
}

/** Runs the checks in order. A failure ends the sequence if later checks depend on it. */
async function* runChecks(context: Context): AsyncGenerator<DoctorCheck> {
  const { io, settings, sources } = context;
  const { motion } = context.output;
  yield check('version', 'ok', `rungate ${io.version}`);
  yield checkSettings(settings, sources);
  yield* checkFileGates(sources);
  const unread = unreadVariables(io);
  if (unread !== null) yield check('variables', 'warn', unread.problem, unread.remedy);
  yield checkCredentials(settings, sources);
  const ci = await ciContext(io);
  yield checkCi(ci);
  const refusal = ci.commitSha === null ? gitRefusal(io) : null;
  if (refusal !== null) yield check('git', 'warn', refusal.problem, refusal.remedy);
  yield* checkWorkflows(io);
  yield checkProxy(io.env);
  yield* await resultOf('deployed build', checkDeployed(context, ci.commitSha));
  yield* await resultOf('hub', motion.during('connecting to the hub', checkHub(context)));
  let caller: Caller;
  try {
    caller = await context.connect();
  } catch (error) {
    if (!(error instanceof RungateError)) throw error;
    yield failed('service', error);
    return;
  }
  yield* checkService(context, caller);
}

interface Sent extends ProbeResult {
  readonly probe: Probe;
  /** By this machine's clock, in milliseconds. */
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly tookMs: number;
}

/** Sends the reads until the connection fails. Each is a single request: doctor does not wait for a rate limit. */
async function sendProbes({ io, settings }: Context, caller: Caller): Promise<Sent[]> {
  const { clock } = io;
  const sent: Sent[] = [];
  if (settings.apiKey === undefined && settings.token === undefined) return sent;
  for (const probe of probes) {
    const [sentAt, began] = [clock.now(), clock.monotonic()];
    const result = await sendProbe(caller, probe);
    const tookMs = Math.round(clock.monotonic() - began);
    sent.push({ ...result, probe, sentAt, receivedAt: clock.now(), tookMs });
    if (result.error instanceof NetworkError) break;
  }
  return sent;
}

/** Checks the connection and what the service says. */
async function* checkService(context: Context, caller: Caller): AsyncGenerator<DoctorCheck> {
  const { io, settings, output } = context;
  const url = new URL(settings.apiUrl?.value ?? '');
  const dns = await output.motion.during(`looking up ${url.hostname}`, checkDns(url.hostname));
  // Without an address, the connection decides: behind a proxy, the proxy resolves the name.
  if (dns.status === 'ok') yield dns;
  const sent = await sendProbes(context, caller);
  const answered = sent.find(isAnswer);
  if (answered !== undefined) {
    const isTls = url.protocol === 'https:';
    const how = isTls ? 'TLS connection and certificate are valid' : 'plain HTTP, without TLS';
    if (dns.status !== 'ok') yield dns;
    yield check('connection', 'ok', `${url.origin} responded in ${answered.tookMs} ms; ${how}`);
  }
  const timed = sent.find(({ response }) => response !== null);
  if (timed !== undefined) yield checkClock(timed.response?.headers.date, timed.sentAt, timed.receivedAt);
  const arrived = sent.filter(({ error }) => !(error instanceof NetworkError));
  yield* mergedAreas(arrived.map((one) => checkArea(one.probe, one, settings)));
  const lost = sent.at(-1)?.error;
  if (lost instanceof NetworkError) yield failed(lost.fault === 'tls' ? 'tls' : 'connection', lost);
  const refused = sent.some((one) => refusesToken(one.probe, one, settings));
  yield* checkToken(settings, { now: io.clock.now(), refused });
  if (arrived.length === sent.length && answered === undefined)
    yield check('connection', 'skip', 'not checked: rungate sends nothing without a credential');
  const canAsk = answered !== undefined && arrived.length === sent.length && settings.token !== undefined;
  yield await checkSelection(context, canAsk && !refused ? caller : null);
}

const pageTimeoutMs = 10_000;

/** Reads the version page once. Only a warning if that fails: the roll-out may not have begun, and doctor has no headers for it. */
async function checkDeployed(context: Context, commit: string | null): Promise<DoctorCheck | null> {
  const { settings } = context;
  const url = settings['deployed.url']?.value;
  const name = 'deployed build';
  if (url === undefined) return null;
  if (url.startsWith('/')) {
    const path = url.replace(/\?.*/s, '');
    return check(name, 'skip', `not checked, because only a gate knows the deployment: ${path}`);
  }
  const stated = settings['deployed.is']?.value;
  const artifacts = artifactsOf(settings['receipt.subjects']?.value);
  const expected = stated === undefined ? versionsOf(commit, artifacts) : [stated];
  const page = openPage({ ...(await pageOptions(context)), expected });
  try {
    const signal = new AbortController().signal;
    const reading = await page.read({ signal, timeoutMs: pageTimeoutMs });
    if ('error' in reading) return warned(name, reading.error);
    const what = `${page.shown} shows ${JSON.stringify(reading.text)}`;
    if (expected.length === 0)
      return check(name, 'warn', `${what}; the expected build is unknown`, 'set deployed.is');
    if (reading.matches) return check(name, 'ok', `${what}, as expected`);
    const others = expected.map((version) => JSON.stringify(version)).join(' or ');
    const remedy =
      'a gate waits until the page shows the expected build; deployed.pointer says where the version is in JSON';
    return check(name, 'warn', `${what}, not ${others}`, remedy);
  } finally {
    await page.close();
  }
}

/** Returns the result of a check, or its error as a failure: an invalid URL stops every gate. */
async function resultOf(name: string, work: Promise<DoctorCheck | null>): Promise<DoctorCheck[]> {
  try {
    const result = await work;
    return result === null ? [] : [result];
  } catch (error) {
    if (!(error instanceof RungateError)) throw error;
    return [failed(name, error)];
  }
}

async function checkDns(hostname: string): Promise<DoctorCheck> {
  const host = hostname.replace(/^\[|\]$/g, '');
  try {
    const addresses = (await lookup(host, { all: true })).map(({ address }) => address);
    return check('dns', 'ok', excerpt(`${host} resolves to ${addresses.join(', ')}`, 200));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'no response';
    return check('dns', 'skip', `${host} could not be resolved here (${code}); the proxy resolves it`);
  }
}

const marks = {
  ok: ['good', '✓'],
  warn: ['warn', '!'],
  fail: ['bad', '✗'],
  skip: ['dim', '-'],
} as const satisfies Record<DoctorCheck['status'], readonly [Tone, string]>;

export const doctor = command({
  name: 'doctor',
  summary: 'check the configuration and suggest fixes',
  heading: 'Gate:',
  description:
    'Check settings, CI, workflows, proxy, DNS, TLS, clock, credentials, project, process and environment, and suggest fixes. It changes nothing. Exits with 0, or with the exit code of the first failed check. The output never contains secrets: you can attach --json to a bug report.',
  examples: ['rungate doctor', 'rungate doctor --json  # for a bug report'],
  showsUnreadable: true,
  async run(context) {
    const { io, output } = context;
    // As in all output, lines break at words on a terminal, and not at all in a log.
    const columns = io.out.isTTY ? (io.out.columns ?? 80) : Number.POSITIVE_INFINITY;
    const json = wantsJson(output);
    const checks: DoctorCheck[] = [];
    for await (const result of runChecks(context)) {
      checks.push(result);
      if (json) continue;
      const { name, status, detail, remedy } = result;
      const [tone, mark] = marks[status];
      const print = (text: string, indent: string) =>
        output.result(`${wrapWords(text, columns, indent).join('\n')}\n`);
      await print(`${output.paint(tone, mark)} ${name}: ${output.excerpt(detail, 1000)}`, '    ');
      if (remedy !== null && status !== 'ok') await print(`    → ${output.excerpt(remedy, 400)}`, '      ');
    }
    const exitCode = checks.find(({ status }) => status === 'fail')?.exitCode ?? exitCodes.ok;
    const report = { schemaVersion: 1, ok: exitCode === exitCodes.ok, exitCode, checks };
    if (json) await output.data(report, '');
    return exitCode;
  },
});
