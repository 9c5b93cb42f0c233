import type { OpenOptions } from '../../library/open-gate.ts';
import { guardHubToken } from '../config/credential-guard.ts';
import type { Context } from '../context.ts';
import { sayFrom } from '../source-names.ts';

/** The value of RUNGATE_HUB_URL that turns off a hub of the project file or the profile. */
export const noHub = 'none';

export function openOptions(context: Context): OpenOptions {
  const { io, settings, output } = context;
  return {
    ...{
      clock: io.clock,
      random: io.random,
      onStop: io.onStop,
      redact: output.redact,
      say: sayFrom(settings),
    },
    connect: () => context.connect(),
    async hub() {
      const url = settings['hub.url']?.value;
      if (url === undefined || url === noHub) return null;
      const { caPem, insecureHttp, proxyEnv } = await context.connection();
      const token = settings.hubTokens?.value[0];
      const guard = () => guardHubToken(io, settings);
      return { url, token, caPem, insecureHttp, proxyEnv, guard };
    },
  };
}
