import type { SecureContext } from 'node:tls';
import { ConfigError } from '../errors.ts';

const block =
  /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** Returns what a file without a certificate contains instead, as the end of a sentence, and a hint. */
function withoutCertificate(caPem: string): [string, string] {
  const hint =
    'it must contain certificates in PEM, each from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----';
  if (caPem.trim() === '') return ['is empty', hint];
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(caPem)) {
    return ['contains a private key but no certificate', 'use the certificate of the CA, never its key'];
  }
  // A certificate in DER is binary.
  if (caPem.includes('\uFFFD'))
    return ['is not in PEM format', 'convert it: openssl x509 -inform der -in <file> -out ca.pem'];
  return ['contains no certificate', hint];
}

/**
 * Checks that every certificate can be read; OpenSSL silently skips those that cannot.
 * @param what the subject of the error
 * @throws ConfigError if there is no certificate, or one that cannot be read
 */
export async function checkPem(caPem: string, what = 'the CA file'): Promise<void> {
  const blocks = caPem.match(block) ?? [];
  if (blocks.length === 0) {
    const [problem, hint] = withoutCertificate(caPem);
    throw new ConfigError(`${what} ${problem}`, { hint });
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
