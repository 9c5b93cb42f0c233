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
