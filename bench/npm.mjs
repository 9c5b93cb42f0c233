import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { runProcess } from './process.mjs';

/** Variables that `npm run` sets for its children, which a nested npm would read as settings; the registry stays. */
const ofNpmRun = (name) => /^npm_(?!config_registry$)/i.test(name);
const ownEnv = Object.fromEntries(
  Object.keys(process.env)
    .filter(ofNpmRun)
    .map((name) => [name, undefined]),
);

/** Runs npm or npx with its own cache, and without audit, funding or update messages. */
export function npm(command, args, { cache, env = {}, ...options }) {
  const quiet = { npm_config_audit: 'false', npm_config_fund: 'false', npm_config_update_notifier: 'false' };
  return runProcess(command, args, {
    ...options,
    env: { ...ownEnv, ...quiet, npm_config_cache: cache, ...env },
  });
}

/** Returns the total size of the files in a folder, in bytes. */
export function folderBytes(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
