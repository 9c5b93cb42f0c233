import { X509Certificate } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import { ConfigError } from '../errors.ts';

const block =
  /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** What a file that has no certificate in it is instead, as the end of a sentence, and what to do about it. */
function withoutCertificate(caPem: string): [string, string] {
  const hint =
    'it must hold certificates in PEM, each from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----';
  if (caPem.trim() === '') return ['is empty', hint];
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(caPem)) {
    return ['holds a private key and no certificate', 'give the certificate of the authority, never a key'];
  }
  // A certificate in DER is bytes, which are no text.
  if (caPem.includes('\uFFFD'))
    return ['is not PEM text', 'convert it: openssl x509 -inform der -in <file> -out ca.pem'];
  return ['holds no certificate', hint];
}

/**
 * Every certificate is read here first: OpenSSL passes over in silence what it cannot read.
 * @param what the subject of the error
 * @throws ConfigError when there is no certificate, or one that cannot be read
 */
export function checkPem(caPem: string, what = 'the CA file'): void {
  const blocks = caPem.match(block) ?? [];
  if (blocks.length === 0) {
    const [problem, hint] = withoutCertificate(caPem);
    throw new ConfigError(`${what} ${problem}`, { hint });
  }
  blocks.forEach((pem, index) => {
    try {
      new X509Certificate(pem);
    } catch (cause) {
      const hint = 'copy it again, every line of it';
      throw new ConfigError(`${what}: certificate ${index + 1} cannot be read`, { hint, cause });
    }
  });
}

/** Newer than the oldest Node that is supported: 22.15. */
interface NewerTls {
  getCACertificates?: (type: 'default') => string[];
}

/**
 * Trust in the certificates that Node trusts and in these. Before Node 22.15 Node does not tell those of
 * NODE_EXTRA_CA_CERTS: whoever reads the environment must put them into `caPem` too.
 * @throws ConfigError when the text holds no certificate, or one that cannot be read
 */
export async function trustAlso(caPem: string): Promise<SecureContext> {
  checkPem(caPem);
  // Only who brings certificates pays for loading TLS here; a plain connection never does.
  const tls: typeof import('node:tls') & NewerTls = await import('node:tls');
  return tls.createSecureContext({
    ca: [...(tls.getCACertificates?.('default') ?? tls.rootCertificates), caPem],
  });
}
