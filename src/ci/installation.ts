/** How a pipeline gets rungate, and how its step starts it. */
export interface Installation {
  /** Installs what the lockfile names, as a command of its own; null when npx gets rungate by its version. */
  readonly install: string | null;
  /** Starts rungate; its arguments follow. */
  readonly start: string;
  /** Why the lockfile does not decide which rungate runs; null when it does. */
  readonly caveat: string | null;
}

/** The repository's root, as far as packages are concerned. */
export interface PackageRoot {
  /** The text of package.json; null without one. */
  readonly manifest: string | null;
  exists(name: string): boolean;
}

interface Manager {
  readonly name: string;
  readonly lockfiles: readonly string[];
  /** The command for this exact version, null when package.json names none; null when none is known to work. */
  install(version: string | null): string | null;
}

/** Install scripts are left out: the step has the API key, and rungate has no such script. */
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
    // From version 2 on, Yarn is another package and may install without node_modules.
    install: (version) =>
      version?.startsWith('1.')
        ? `npx --yes yarn@${version} install --frozen-lockfile --ignore-scripts`
        : null,
  },
  { name: 'bun', lockfiles: ['bun.lock', 'bun.lockb'], install: () => null },
];

/** Returns what package.json says; nothing if it cannot be read: then no lockfile is relied on. */
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

/** The pinned version, for a pipeline without a lockfile that names rungate. */
export function pinned(version: string, caveat: string | null = null): Installation {
  return { install: null, start: `npx --yes rungate@${version}`, caveat };
}

/**
 * From the lockfile when package.json names rungate and the lockfile's package manager can be had by an exact version, else this
 * version by npx.
 */
export function installationOf({ manifest, exists }: PackageRoot, version: string): Installation {
  const { dependsOnRungate, manager, managerVersion } = readManifest(manifest);
  // Without a package.json there is no lockfile that could name rungate.
  if (manifest === null) return pinned(version);
  if (!dependsOnRungate)
    return pinned(version, "the root's package.json does not name rungate: add it to its devDependencies");
  const locked = managers
    .map((one) => ({ ...one, lockfile: one.lockfiles.find(exists) }))
    .filter(({ lockfile }) => lockfile !== undefined);
  const chosen = locked.find(({ name }) => name === manager) ?? locked[0];
  if (chosen === undefined) return pinned(version, 'there is no lockfile: commit one');
  const install = chosen.install(chosen.name === manager ? managerVersion : null);
  if (install !== null)
    // Not `npx --no rungate`: that takes the name for the value of `--no`, and an option after it for one of npm.
    return { install, start: 'npx --no-install rungate', caveat: null };
  const remedy =
    chosen.name === 'bun' || managerVersion !== null
      ? 'install with it in the step'
      : `let packageManager in package.json name ${chosen.name}'s version`;
  return pinned(version, `rungate init writes no step that uses ${chosen.lockfile} here: ${remedy}`);
}
