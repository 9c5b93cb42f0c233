export interface Installation {
  /** The command that installs from the lockfile; null if npx downloads rungate by its version. */
  readonly install: string | null;
  /** The container image of rungate in which the step runs; without it, one with Node. */
  readonly image?: string;
  /** The start of the command that runs rungate; its arguments follow. */
  readonly start: string;
  /** Why the lockfile does not determine the version of rungate; null if it does, or if no reason is needed. */
  readonly caveat: string | null;
}

/** The package files in the repository's root. */
export interface PackageRoot {
  /** The text of package.json; null if it does not exist. */
  readonly manifest: string | null;
  exists(name: string): boolean;
}

interface Manager {
  readonly name: string;
  readonly lockfiles: readonly string[];
  /** Returns the command for this version of the manager (null if package.json names none), or null if no command works. */
  install(version: string | null): string | null;
}

/** `--ignore-scripts`, because the step may have the API key in its environment, and rungate has no install script. */
const managers: readonly Manager[] = [
  {
    name: 'npm',
    lockfiles: ['package-lock.json', 'npm-shrinkwrap.json'],
    install: () => 'npm ci --ignore-scripts',
  },
  {
    name: 'pnpm',
    lockfiles: ['pnpm-lock.yaml'],
    install: (version) => version && `npx --yes pnpm@${version} install --frozen-lockfile --ignore-scripts`,
  },
  {
    name: 'yarn',
    lockfiles: ['yarn.lock'],
    // From version 2 on, Yarn is a different package and may install without node_modules.
    install: (version) =>
      version?.startsWith('1.')
        ? `npx --yes yarn@${version} install --frozen-lockfile --ignore-scripts`
        : null,
  },
  { name: 'bun', lockfiles: ['bun.lock', 'bun.lockb'], install: () => null },
];

/** Returns the facts in package.json that decide about the lockfile. An unreadable package.json does not depend on rungate. */
function readManifest(text: string | null) {
  let json: unknown;
  try {
    json = JSON.parse(text?.replace(/^\uFEFF/, '') ?? 'null');
  } catch {}
  const { dependencies, devDependencies, packageManager } = Object(json);
  // Only an exact version may become part of a shell command.
  const [, manager, managerVersion = null] =
    /^([a-z]+)@(\d{1,9}(?:\.\d{1,9}){2}(?:-[0-9A-Za-z.-]{1,40})?)(?:\+[0-9A-Za-z.]+)?$/.exec(
      packageManager,
    ) ?? [];
  const dependsOnRungate = [dependencies, devDependencies].some((list) =>
    Object.hasOwn(Object(list), 'rungate'),
  );
  return { dependsOnRungate, manager, managerVersion };
}

/** Returns the installation of this exact version by npx, for a pipeline without a lockfile that contains rungate. */
export function pinned(version: string, caveat: string | null = null): Installation {
  return { install: null, start: `npx --yes rungate@${version}`, caveat };
}

/**
 * Returns the installation from the lockfile if package.json names rungate and the exact version of the package manager is
 * known; otherwise the installation of this version by npx. A repository without a package.json gets the image, if there is one.
 */
export function installationOf(
  { manifest, exists }: PackageRoot,
  version: string,
  image?: string,
): Installation {
  const { dependsOnRungate, manager, managerVersion } = readManifest(manifest);
  // Without a package.json, no lockfile contains rungate, and the project may not use Node.
  if (manifest === null)
    return image === undefined ? pinned(version) : { install: null, image, start: 'rungate', caveat: null };
  if (!dependsOnRungate)
    return pinned(version, 'the package.json of the root does not list rungate: add it to devDependencies');
  const locked = managers
    .map((candidate) => ({ ...candidate, lockfile: candidate.lockfiles.find(exists) }))
    .filter(({ lockfile }) => lockfile !== undefined);
  const chosen = locked.find(({ name }) => name === manager) ?? locked[0];
  if (chosen === undefined) return pinned(version, 'the repository has no lockfile: commit one');
  const install = chosen.install(chosen.name === manager ? managerVersion : null);
  if (install !== null)
    // Not `npx --no rungate`: npx would read `rungate` as the value of `--no`, and the options after it as its own.
    return { install, start: 'npx --no-install rungate', caveat: null };
  const remedy =
    chosen.name === 'bun' || managerVersion !== null
      ? 'add an install command to the step yourself'
      : `set packageManager in package.json to the version of ${chosen.name}`;
  return pinned(version, `rungate init cannot write a step that uses ${chosen.lockfile} here: ${remedy}`);
}
