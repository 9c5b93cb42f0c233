import type { Clock } from '../clock.ts';
import { UsageError } from '../errors.ts';
import type { OpenDeployed } from '../gate/deployed/open.ts';
import type { Emit } from '../gate/events.ts';
import { usualDeployedMs } from '../gate/limits.ts';
import { optionNames } from '../hint-names.ts';
import { ownCopy } from '../own-options.ts';
import type { Redact } from '../redact.ts';
import { checkMs, checkPointer, type GateOptions } from './gate-options.ts';

type Options = Pick<
  GateOptions,
  'deployed' | 'env' | 'insecureHttp' | 'caPem' | 'proxyEnv' | 'requestTimeoutMs'
>;

/** Returns the commit of the job, or undefined if `env` does not have it. */
async function commitIn(env: Options['env']): Promise<string | undefined> {
  if (env === undefined) return undefined;
  const { detectCi } = await import('../ci/provider.ts');
  return detectCi(env).commitSha ?? undefined;
}

/**
 * Opens the check of the deployed build, if the options have one. Without it, nothing of it is loaded.
 * @param commit the commit of the run that is created, if one is
 * @throws UsageError or ConfigError before anything is sent
 */
export async function openOptionDeployed(
  { deployed, env, insecureHttp, caPem, proxyEnv, requestTimeoutMs }: Options,
  commit: string | undefined,
  clock: Clock,
  redact: Redact,
  emit: Emit,
): Promise<OpenDeployed | undefined> {
  if (deployed === undefined) return undefined;
  const { url, pointer, is, timeoutMs = usualDeployedMs, headers = {} } = deployed;
  if (typeof url !== 'string')
    throw new UsageError('deployed must be { url } with the URL of the version page');
  checkPointer('deployed.pointer', pointer, '/version');
  checkMs('deployed.timeoutMs', timeoutMs);
  const expected = is?.trim() ?? commit ?? (await commitIn(env));
  if (expected === undefined || expected === '') {
    throw new UsageError('the expected build is unknown', {
      hint: 'pass deployed.is, or trigger.commitSha, or env of a CI job',
    });
  }
  const [{ openDeployed }, { checkHeaders }] = await Promise.all([
    import('../gate/deployed/open.ts'),
    import('../gate/deployed/headers.ts'),
  ]);
  return openDeployed({
    url,
    pointer,
    expected,
    timeoutMs,
    headers: checkHeaders('deployed.headers', ownCopy(headers)),
    insecureHttp,
    caPem,
    proxyEnv,
    requestTimeoutMs,
    clock,
    redact,
    emit,
    names: optionNames,
  });
}
