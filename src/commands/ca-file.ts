import { ConfigError } from '../errors.ts';
import type { Io } from '../host/io.ts';
import type { Settings } from '../settings/names.ts';
import { checkPem } from '../transport/trust.ts';
import { readRegularFile } from './config/project-file.ts';
import { sourceName } from './source-names.ts';

function readPem(io: Io, path: string, source: string): string {
  try {
    return new TextDecoder().decode(readRegularFile(io, path));
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new ConfigError(`the CA file cannot be read: ${path} (${code ?? message})`, {
      hint: `check ${source}`,
      cause,
    });
  }
}

/**
 * Returns the checked certificates of `--ca-file`, even if the connection does not need them. Before Node 22.15, authorities
 * of one connection replace NODE_EXTRA_CA_CERTS, so both are returned.
 * @throws ConfigError
 */
export async function readCa(io: Io, setting: NonNullable<Settings['caFile']>): Promise<string> {
  const own = readPem(io, setting.value, sourceName('caFile', setting));
  await checkPem(own, `the CA file ${setting.value}`);
  const extra = io.env.NODE_EXTRA_CA_CERTS;
  return extra === undefined || extra === '' ? own : `${own}\n${readPem(io, extra, 'NODE_EXTRA_CA_CERTS')}`;
}
