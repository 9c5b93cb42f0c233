import type { Emit } from '../../gate/events.ts';
import type { HubOptions, OpenHub } from '../../gate/fleet/open-hub.ts';
import { guardHubToken } from '../config/credential-guard.ts';
import type { Context } from '../context.ts';
import { namesOf } from '../source-names.ts';

/** The value of RUNGATE_HUB_URL that turns off a hub of the project file or the profile. */
export const noHub = 'none';

/** Returns how to reach the hub, or null if none is set. */
export async function hubOptions({ io, settings, output, connection }: Context): Promise<HubOptions | null> {
  const url = settings['hub.url']?.value;
  if (url === undefined || url === noHub) return null;
  const { caPem, insecureHttp, proxyEnv } = await connection();
  const token = settings.hubTokens?.value[0];
  const { clock } = io;
  return {
    url,
    token,
    caPem,
    insecureHttp,
    proxyEnv,
    clock,
    redact: output.redact,
    names: namesOf(settings),
  };
}

/**
 * Opens the link with the hub, if one is set. Without a hub, nothing of it is loaded.
 * @throws ConfigError if the URL is invalid
 */
export async function openCommandHub(context: Context, emit: Emit): Promise<OpenHub | undefined> {
  const options = await hubOptions(context);
  if (options === null) return undefined;
  const { openHub } = await import('../../gate/fleet/open-hub.ts');
  const guard = () => guardHubToken(context.io, context.settings);
  return openHub({ ...options, guard }, (error) => emit({ type: 'hub', error }));
}
