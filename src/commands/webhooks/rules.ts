import type { SecureContext } from 'node:tls';
import { ConfigError, UsageError } from '../../errors.ts';
import type { HeaderNames } from '../../webhook/headers.ts';
import type { Context } from '../context.ts';
import { filled } from '../global-options.ts';
import { parseTarget } from './forward.ts';
import {
  type HeaderNameFlags,
  hasSecret,
  headerNamesOf,
  missingSecret,
  type Secrets,
  secretsOf,
} from './secrets.ts';
import { limitsFor } from './verify.ts';

export interface ListenFlags extends HeaderNameFlags {
  port?: string;
  host?: string;
  forwardTo?: string;
  forwardUnverified?: boolean;
  save?: string;
  tolerance?: string;
}

/** What holds for every delivery. */
export interface Rules {
  secrets: Secrets;
  headerNames: Partial<HeaderNames>;
  limits: ReturnType<typeof limitsFor>;
  target: URL | null;
  forwardUnverified: boolean;
  secureContext: SecureContext | undefined;
  folder: string | null;
}

/** Those of NODE_EXTRA_CA_CERTS too: Node before 22.15 does not tell which they are. */
async function trustOf({ io, settings }: Context, target: URL | null): Promise<SecureContext | undefined> {
  const own = settings.caFile?.value;
  if (own === undefined || target?.protocol !== 'https:') return undefined;
  const { trustAlso } = await import('../../transport/trust.ts');
  const paths = [own, io.env.NODE_EXTRA_CA_CERTS ?? ''].filter((path) => path !== '');
  const read = (path: string) => {
    try {
      return new TextDecoder().decode(io.readFile(path));
    } catch (cause) {
      const message = `the file of certificate authorities cannot be read: ${path}`;
      throw new ConfigError(message, { hint: 'check --ca-file and NODE_EXTRA_CA_CERTS', cause });
    }
  };
  return trustAlso(paths.map(read).join('\n'));
}

function prepareFolder({ io }: Context, folder: string): string {
  try {
    io.makeFolder(folder);
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new UsageError(`--save: the folder ${folder} cannot be made (${code})`, {
      hint: 'name a folder that you may write to',
      cause,
    });
  }
  return folder;
}

/** @throws UsageError or ConfigError before anything is received */
export async function rulesOf(context: Context, flags: ListenFlags): Promise<Rules> {
  const forwardTo = filled('--forward-to', flags.forwardTo);
  const folder = filled('--save', flags.save);
  const target = forwardTo === undefined ? null : parseTarget(forwardTo);
  const secrets = secretsOf(context.settings);
  const forwardUnverified = flags.forwardUnverified === true;
  if (forwardUnverified && target === null) {
    throw new UsageError('--forward-unverified: nothing is forwarded', { hint: 'add --forward-to <url>' });
  }
  const limits = limitsFor(flags.tolerance ?? '5m');
  if (target !== null && !hasSecret(secrets) && !forwardUnverified) {
    const error = missingSecret(`webhooks listen --forward-to: only what is authentic is forwarded`);
    error.hint = `${error.hint}; --forward-unverified forwards everything`;
    throw error;
  }
  return {
    secrets,
    headerNames: headerNamesOf(context.settings),
    limits,
    target,
    forwardUnverified,
    secureContext: await trustOf(context, target),
    folder: folder === undefined ? null : prepareFolder(context, folder),
  };
}
