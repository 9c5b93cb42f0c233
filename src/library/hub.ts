import type { Clock } from '../clock.ts';
import type { Emit } from '../gate/events.ts';
import type { OpenHub } from '../gate/fleet/open-hub.ts';
import { optionNames } from '../hint-names.ts';
import type { Redact } from '../redact.ts';
import type { GateOptions } from './gate-options.ts';

/**
 * Opens the link with the hub of the options, if there is one. Without a hub, nothing of it is loaded.
 * @throws ConfigError if the URL is invalid
 */
export async function openOptionHub(
  { hub, insecureHttp, caPem, proxyEnv }: Pick<GateOptions, 'hub' | 'insecureHttp' | 'caPem' | 'proxyEnv'>,
  clock: Clock,
  redact: Redact,
  emit: Emit,
): Promise<OpenHub | undefined> {
  if (hub === undefined) return undefined;
  const { openHub } = await import('../gate/fleet/open-hub.ts');
  return openHub({ ...hub, insecureHttp, caPem, proxyEnv, clock, redact, names: optionNames }, (error) =>
    emit({ type: 'hub', error }),
  );
}
