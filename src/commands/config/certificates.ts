import type { SecureContext } from 'node:tls';
import { ConfigError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import type { Flags } from '../../options/table.ts';
import type { Settings } from '../../settings/names.ts';
import { checkPem, trustAlso } from '../../transport/trust.ts';
import { sourceName } from '../source-names.ts';
import { readRegularFile } from './choose-file.ts';

function readPem(what: string, path: string, source: string, read: () => Uint8Array): string {
  try {
    return new TextDecoder().decode(read());
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new ConfigError(`${what} cannot be read: ${path} (${code ?? message})`, {
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
  const read = (path: string, source: string) =>
    readPem('the CA file', path, source, () => readRegularFile(io, path));
  const pem = read(setting.value, sourceName('caFile', setting));
  await checkPem(pem, `the CA file ${setting.value}`);
  const extra = io.env.NODE_EXTRA_CA_CERTS;
  return extra === undefined || extra === '' ? pem : `${pem}\n${read(extra, 'NODE_EXTRA_CA_CERTS')}`;
}

/** Returns what a TLS connection trusts with `--ca-file`; undefined without it. @throws ConfigError */
export async function secureContextOf(io: Io, { caFile }: Settings): Promise<SecureContext | undefined> {
  return caFile && trustAlso(await readCa(io, caFile));
}

/** Returns the client certificate of `--cert-file` and its key. @throws ConfigError if one cannot be used */
export async function readIdentity(io: Io, { certFile, keyFile }: Flags) {
  const read = (what: string, path: string | undefined, option: string) =>
    path === undefined ? undefined : readPem(what, path, option, () => io.readFile(path));
  const certPem = read('the client certificate', certFile, '--cert-file');
  if (certPem !== undefined) await checkPem(certPem, `the client certificate ${certFile}`);
  return { certPem, keyPem: read("the client certificate's key", keyFile, '--key-file') };
}
