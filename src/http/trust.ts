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

/**
 * Trust in the certificates that Node trusts, those of NODE_EXTRA_CA_CERTS included, and in these.
 * @throws ConfigError when the text holds no certificate, or one that cannot be read
 */
export async function trustAlso(caPem: string): Promise<SecureContext> {
  checkPem(caPem);
  // Only who brings certificates pays for loading TLS here; a plain connection never does.
  const { createSecureContext } = await import('node:tls');
  const trust = createSecureContext();
  // The `ca` option would take the place of the trusted certificates; Node has no public way to add to them.
  trust.context.addCACert(caPem);
  return trust;
}
