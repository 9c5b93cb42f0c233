import type { SecureContext } from 'node:tls';
import { ConfigError } from '../errors.ts';
import type { Receiver } from './address.ts';

const block =
  /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/**
 * Checks that every certificate can be read; OpenSSL silently skips those that cannot.
 * @param what the subject of the error
 * @throws ConfigError if there is no certificate, or one that cannot be read
 */
export async function checkPem(caPem: string, what = 'the CA file'): Promise<void> {
  const blocks = caPem.match(block) ?? [];
  if (blocks.length === 0) {
    throw new ConfigError(`${what} contains no certificate in PEM`, {
      hint: 'it must contain certificates, each from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----; to convert DER: openssl x509 -inform der',
    });
  }
  const { X509Certificate } = await import('node:crypto');
  blocks.forEach((pem, index) => {
    try {
      new X509Certificate(pem);
    } catch (cause) {
      const hint = 'copy it again with every line';
      throw new ConfigError(`${what}: certificate ${index + 1} cannot be read`, { hint, cause });
    }
  });
}

/** Available from Node 22.15; rungate also supports older versions. */
interface NewerTls {
  getCACertificates?: (type: 'default') => string[];
}

/** A certificate (PEM) with which the client authenticates itself, and its private key. */
export interface Identity {
  certPem: string;
  keyPem: string;
  /** The receiver of both, for errors. */
  to: Receiver;
}

/** Returns what is wrong with a private key, or with its certificate. @param code the error code of OpenSSL */
function keyProblem(code: string, { keyPem, to }: Identity): [problem: string, hint: string] {
  if (!/PRIVATE KEY-----/.test(keyPem))
    return ['the client certificate has no private key in PEM', `give the key file with ${to.keyFile}`];
  if (/ENCRYPTED/.test(keyPem))
    return [
      'the private key of the client certificate is encrypted',
      'decrypt it into a file that only you can read: openssl pkey -in <file> -out <file>',
    ];
  if (code === 'ERR_OSSL_X509_KEY_VALUES_MISMATCH')
    return [
      'the private key belongs to another client certificate',
      `check ${to.certFile} and ${to.keyFile}; the client's own certificate must come first`,
    ];
  return ['the private key of the client certificate cannot be read', 'copy it again with every line'];
}

/**
 * Returns a context that trusts these certificates in addition to those that Node trusts, and authenticates itself with the identity.
 * Before 22.15, Node does not expose the certificates of NODE_EXTRA_CA_CERTS, so the caller must add them to `caPem`.
 * @throws ConfigError if a text contains no certificate, or one that cannot be read, or if the key does not belong to the identity
 */
export async function trustAlso(caPem: string | undefined, identity?: Identity): Promise<SecureContext> {
  if (caPem !== undefined) await checkPem(caPem);
  if (identity !== undefined) await checkPem(identity.certPem, 'the client certificate');
  // Loaded here, so that it costs time only when custom certificates are configured.
  const tls: typeof import('node:tls') & NewerTls = await import('node:tls');
  const ca =
    caPem === undefined
      ? undefined
      : [...(tls.getCACertificates?.('default') ?? tls.rootCertificates), caPem];
  try {
    return tls.createSecureContext({ ca, cert: identity?.certPem, key: identity?.keyPem });
  } catch (cause) {
    if (identity === undefined) throw cause;
    const [problem, hint] = keyProblem(String((cause as NodeJS.ErrnoException).code), identity);
    throw new ConfigError(problem, { hint, cause });
  }
}
