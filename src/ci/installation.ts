export interface Installation {
  /** The command that installs from the lockfile; null if npx downloads rungate by its version. */
  readonly install: string | null;
  /** The container image of rungate in which the step runs; without it, one with Node. */
  readonly image?: string;
  /** The start of the command that runs rungate; its arguments follow. */
  readonly start: string;
  /** Why the lockfile does not determine the version of rungate; null if it does, or if no reason is needed. */
  readonly caveat: string | null;
  /** The files that must be committed for it. */
  readonly files?: readonly string[];
}

/** The package files in the repository's root. */
export interface PackageRoot {
  /** The text of package.json; null if it does not exist. */
  readonly manifest: string | null;
  exists(name: string): boolean;
}

const lockfiles = {
  'package-lock.json': 'npm',
  'npm-shrinkwrap.json': 'npm',
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
} as const;
type Manager = (typeof lockfiles)[keyof typeof lockfiles];

/**
 * Returns the command that installs with this version of the package manager (null if package.json names none), or null if none
 * works. `--ignore-scripts`, because the step may have the API key in its environment, and rungate has no install script.
 */
function installWith(manager: Manager, version: string | null): string | null {
  if (manager === 'npm') return 'npm ci --ignore-scripts';
  // From version 2 on, Yarn is a different package and may install without node_modules.
  const isKnown = manager === 'pnpm' ? version !== null : manager === 'yarn' && version?.startsWith('1.');
  return isKnown ? `npx --yes ${manager}@${version} install --frozen-lockfile --ignore-scripts` : null;
}

/** Returns the facts in package.json that decide about the lockfile. An unreadable package.json does not depend on rungate. */
function readManifest(text: string) {
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {}
  const { dependencies, devDependencies, packageManager } = Object(json);
  // Only an exact version may become part of a shell command.
  const exact = /^([a-z]+)@(\d{1,9}(?:\.\d{1,9}){2}(?:-[0-9A-Za-z.-]{1,40})?)(?:\+[0-9A-Za-z.]+)?$/;
  const [, named, version = null] = exact.exec(packageManager) ?? [];
  const wanted: unknown = Object(devDependencies).rungate ?? Object(dependencies).rungate;
  return { wanted, named, version };
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
  // Without a package.json, no lockfile contains rungate, and the project may not use Node.
  if (manifest === null)
    return image === undefined ? pinned(version) : { install: null, image, start: 'rungate', caveat: null };
  const known = readManifest(manifest);
  if (known.wanted === undefined)
    return pinned(version, 'the root package.json does not list rungate: add it to devDependencies');
  const present = Object.entries(lockfiles).filter(([file]) => exists(file));
  const [lockfile, manager] = present.find(([, name]) => name === known.named) ?? present[0] ?? [];
  if (lockfile === undefined || manager === undefined)
    return pinned(version, 'the repository has no lockfile: commit one');
  const install = installWith(manager, manager === known.named ? known.version : null);
  if (install !== null) {
    // Nothing outside the repository can be committed.
    const [, archive] = /^file:(?:\.\/)?((?!\.\.\/|\/).+\.tgz)$/.exec(String(known.wanted)) ?? [];
    const files = ['package.json', lockfile, ...(archive === undefined ? [] : [archive])];
    // Not `npx --no rungate`: npx would read `rungate` as the value of `--no`, and the options after it as its own.
    return { install, start: 'npx --no-install rungate', caveat: null, files };
  }
  const remedy =
    manager === 'bun' || known.version !== null
      ? 'add an install command to the step yourself'
      : `set packageManager in package.json to the version of ${manager}`;
  return pinned(version, `rungate init cannot write a step that uses ${lockfile} here: ${remedy}`);
}
