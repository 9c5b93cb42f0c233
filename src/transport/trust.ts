import type { SecureContext } from 'node:tls';
import { ConfigError } from '../errors.ts';

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

/**
 * Returns a context that trusts these certificates in addition to those that Node trusts. Before 22.15, Node does not
 * expose the certificates of NODE_EXTRA_CA_CERTS, so the caller must add them to `caPem`.
 * @throws ConfigError if the text contains no certificate, or one that cannot be read
 */
export async function trustAlso(caPem: string): Promise<SecureContext> {
  await checkPem(caPem);
  // Loaded here, so that it costs time only when custom certificates are configured.
  const tls: typeof import('node:tls') & NewerTls = await import('node:tls');
  return tls.createSecureContext({
    ca: [...(tls.getCACertificates?.('default') ?? tls.rootCertificates), caPem],
  });
}
