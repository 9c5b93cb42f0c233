import { Refused } from './error.ts';
import { isObject, type Json, own } from './json.ts';

/** The media type of a Sigstore bundle, version 0.3, as JSON. */
export const bundleType = 'application/vnd.dev.sigstore.bundle.v0.3+json';

/** A signed payload in a Sigstore bundle whose key the verifier has. It is not in a transparency log. */
export interface Bundle<Envelope> {
  mediaType: typeof bundleType;
  verificationMaterial: { publicKey: { hint: string }; tlogEntries: readonly never[] };
  dsseEnvelope: Envelope;
}

/** Returns an envelope with one signature as a bundle. */
export function bundleOf<Envelope extends { signatures: readonly { keyid?: string }[] }>(
  envelope: Envelope,
): Bundle<Envelope> {
  // The specification requires the same text as in the envelope.
  const hint = envelope.signatures[0]?.keyid ?? '';
  return {
    mediaType: bundleType,
    verificationMaterial: { publicKey: { hint }, tlogEntries: [] },
    dsseEnvelope: envelope,
  };
}

/**
 * Returns the envelope in a bundle, or the object itself, which may be an envelope. Nothing in it is trusted yet.
 * @throws Refused
 */
export function envelopeIn(value: Json): Json {
  const mediaType = own(value, 'mediaType');
  if (mediaType === undefined) return value;
  if (mediaType !== bundleType) throw new Refused(`its mediaType is not "${bundleType}"`);
  const envelope = own(value, 'dsseEnvelope');
  if (!isObject(envelope)) throw new Refused('the bundle has no DSSE envelope');
  const material = own(value, 'verificationMaterial');
  const publicKey = isObject(material) ? own(material, 'publicKey') : undefined;
  if (!isObject(publicKey))
    throw new Refused(
      'the bundle names no public key',
      'rungate verifies signatures of its keys; verify a certificate with cosign or gh attestation verify',
    );
  const signatures = own(envelope, 'signatures');
  const [signature, ...others] = Array.isArray(signatures) ? signatures : [];
  if (!isObject(signature) || others.length > 0) throw new Refused('the bundle does not have one signature');
  if ((own(signature, 'keyid') ?? '') !== (own(publicKey, 'hint') ?? ''))
    throw new Refused('the bundle and its envelope name different keys');
  return envelope;
}
