import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { runProcess } from './process.mjs';

/** What `npm run` sets for its child would be read as settings by an npm below it; the registry may be the user's. */
const ofNpmRun = (name) => /^npm_(?!config_registry$)/i.test(name);
const ownEnv = Object.fromEntries(
  Object.keys(process.env)
    .filter(ofNpmRun)
    .map((name) => [name, undefined]),
);

/** npm or npx with a cache of its own, asking for nothing but what it is told to do. */
export function npm(command, args, { cache, env = {}, ...options }) {
  const quiet = { npm_config_audit: 'false', npm_config_fund: 'false', npm_config_update_notifier: 'false' };
  return runProcess(command, args, {
    ...options,
    env: { ...ownEnv, ...quiet, npm_config_cache: cache, ...env },
  });
}

/** The bytes of all files of a folder. */
export function folderBytes(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
