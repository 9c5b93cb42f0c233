/** A file or an image that was tested, by its content: a subject of an in-toto statement. */
export interface Artifact {
  /** The name of the image or the file; a name says nothing about the content. */
  name: string;
  /** SHA-256 in lower-case hex. */
  digest: { sha256: string };
}

const pattern = /^(.+)@sha256:([0-9a-f]{64})$/i;
/** Within a name, it begins another subject: each needs its option. */
const separator = /@sha256:/i;

/** Reads `name@sha256:hex`, as registries and container tools write it. Returns null for any other text. */
export function parseArtifact(text: string): Artifact | null {
  const [, name, sha256] = pattern.exec(text.trim()) ?? [];
  if (name === undefined || sha256 === undefined || separator.test(name)) return null;
  return { name, digest: { sha256: sha256.toLowerCase() } };
}

/** An artifact to look for: its digest, under this name or, if it is null, under any. */
export interface SoughtArtifact {
  name: string | null;
  sha256: string;
}

/** Reads `name@sha256:hex` or `sha256:hex`. Returns null for any other text. */
export function parseSought(text: string): SoughtArtifact | null {
  const named = parseArtifact(text);
  if (named !== null) return { name: named.name, sha256: named.digest.sha256 };
  const sha256 = /^sha256:([0-9a-f]{64})$/i.exec(text.trim())?.[1];
  return sha256 === undefined ? null : { name: null, sha256: sha256.toLowerCase() };
}

/** Returns the artifacts of checked texts. */
export const artifactsOf = (texts: readonly string[] = []): Artifact[] =>
  texts.flatMap((text) => parseArtifact(text) ?? []);

/** Returns a name that two artifacts have, if there is one: consumers tell subjects apart by it. */
export const repeatedName = (artifacts: readonly Artifact[]): string | undefined =>
  artifacts.find(({ name }, at) => artifacts.findIndex((other) => other.name === name) < at)?.name;

/** Returns `name@sha256:hex`. */
export const artifactText = ({ name, digest }: Artifact): string => `${name}@sha256:${digest.sha256}`;

/** Returns the versions of which a page should show one: the commit, or the digest of an artifact. */
export const versionsOf = (commit: string | null | undefined, artifacts: readonly Artifact[]): string[] => [
  ...(commit ? [commit] : []),
  ...artifacts.map(({ digest }) => `sha256:${digest.sha256}`),
];

/** The shortest abbreviation that counts as a commit, in digits. */
const shortest = 7;
const isHash = (text: string) => text.length >= shortest && /^[0-9a-f]+$/i.test(text);
/** A page may show the digest alone, or behind the name of the image. */
const digestPrefix = /^(?:\S+@)?sha256:(?=[0-9a-f]+$)/i;
const isWhole = (text: string) => text.length === 40 || text.length === 64;

/**
 * Returns whether a version is the expected one: the same text, or one is an abbreviation of the other, a commit or a digest.
 * A whole commit or digest abbreviates nothing. Without a letter, a number such as 20261122 abbreviates only a whole commit:
 * builds have numbers too.
 */
export function isExpected(text: string, expected: string): boolean {
  if (text === expected) return true;
  const hashes = [text, expected].map((version) => version.replace(digestPrefix, ''));
  if (!hashes.every(isHash)) return false;
  const [short, long] = hashes.map((hash) => hash.toLowerCase()).toSorted((a, b) => a.length - b.length);
  if (short === undefined || long?.startsWith(short) !== true) return false;
  // A SHA-256 of an image is not the SHA-1 of a commit.
  if (long.length !== 64 && [text, expected].some((version) => digestPrefix.test(version))) return false;
  if (isWhole(short)) return short === long;
  return isWhole(long) || /[a-f]/.test(short);
}
