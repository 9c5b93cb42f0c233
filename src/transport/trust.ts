import { X509Certificate } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import { ConfigError } from '../errors.ts';

const block =
  /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** Every certificate is read here first: OpenSSL passes over in silence what it cannot read. */
function checkPem(caPem: string): void {
  const hint =
    'it must hold certificates in PEM, each from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----';
  const blocks = caPem.match(block) ?? [];
  if (blocks.length === 0) throw new ConfigError('the CA file holds no certificate', { hint });
  blocks.forEach((pem, index) => {
    try {
      new X509Certificate(pem);
    } catch (cause) {
      throw new ConfigError(`certificate ${index + 1} of the CA file cannot be read`, { hint, cause });
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
