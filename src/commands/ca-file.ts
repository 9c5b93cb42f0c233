import { ConfigError } from '../errors.ts';
import type { Io } from '../host/io.ts';
import type { Settings } from '../settings/names.ts';
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
 * Returns the certificates of `--ca-file`, checked, whether or not the connection will need them. Authorities given for one
 * connection take the place of NODE_EXTRA_CA_CERTS in Node before 22.15: so both are returned.
 * @throws ConfigError
 */
export async function readCa(io: Io, setting: NonNullable<Settings['caFile']>): Promise<string> {
  const own = readPem(io, setting.value, sourceName('caFile', setting));
  const { checkPem } = await import('../transport/trust.ts');
  checkPem(own, `the CA file ${setting.value}`);
  const extra = io.env.NODE_EXTRA_CA_CERTS;
  return extra === undefined || extra === '' ? own : `${own}\n${readPem(io, extra, 'NODE_EXTRA_CA_CERTS')}`;
}
