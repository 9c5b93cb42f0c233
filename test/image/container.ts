import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { type MockOptions, startMock } from '../../src/mock/server.ts';
import { start } from '../e2e/process.ts';
import { inTerminal } from '../e2e/pty.ts';

const image = inject('image');

/** The configuration of the image, as `docker inspect` shows it. */
export const { config } = JSON.parse(readBlob(JSON.parse(readBlob(layoutIndex())).config.digest));

function layoutIndex(): string {
  return JSON.parse(readFileSync(join(image, 'oci/index.json'), 'utf8')).manifests[0].digest;
}
function readBlob(digest: string): string {
  return readFileSync(join(image, 'oci/blobs', digest.replace(':', '/')), 'utf8');
}

/** The image's root file system. */
export const rootFileSystem = join(image, 'bundle/rootfs');

export interface Mount {
  source: string;
  target: string;
  readOnly?: boolean;
}

/** The settings of a container; the image has the defaults. */
export interface Settings {
  /** Replaces the image's entrypoint. */
  entrypoint?: readonly string[];
  /** The arguments after the entrypoint. */
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** The ids of user and group, such as 1000:1000. */
  user?: string;
  workdir?: string;
  mounts?: readonly Mount[];
  readOnly?: boolean;
  /** Whether the container has a terminal. */
  terminal?: boolean;
}

const bind = ({ source, target, readOnly = false }: Mount) => ({
  destination: target,
  source,
  type: 'bind',
  options: ['rbind', readOnly ? 'ro' : 'rw'],
});

/** Returns the configuration of the runtime: what umoci made of the image, with the settings and without any capability. */
function bundleConfig(settings: Settings): object {
  const bundle = JSON.parse(readFileSync(join(image, 'bundle/config.json'), 'utf8'));
  const { entrypoint = config.Entrypoint, args = [], env = {}, readOnly = false, mounts = [] } = settings;
  const [uid, gid = uid] = (settings.user ?? config.User).split(':').map(Number);
  const writableTmp = { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['mode=1777'] };
  // As with a host network, which reaches the mock of the test.
  const names = ['/etc/hosts', '/etc/resolv.conf'].map((path) => ({
    source: path,
    target: path,
    readOnly: true,
  }));
  return {
    ...bundle,
    root: { path: rootFileSystem, readonly: true },
    process: {
      ...bundle.process,
      terminal: settings.terminal ?? false,
      user: { uid, gid },
      args: [...entrypoint, ...args],
      env: [...config.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
      cwd: settings.workdir ?? config.WorkingDir,
      capabilities: {},
    },
    mounts: [
      ...bundle.mounts.filter(({ type }: { type: string }) => type !== 'sysfs' && type !== 'cgroup'),
      // The only folder that a user without rights could write to.
      ...(readOnly ? [] : [writableTmp]),
      ...[...names, ...mounts].map(bind),
    ],
    linux: {
      ...bundle.linux,
      resources: {},
      namespaces: bundle.linux.namespaces.filter(({ type }: { type: string }) => type !== 'network'),
    },
  };
}

/** Writes a container's configuration, and returns the command that starts it. The test's end removes the container. */
function prepare(settings: Settings) {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-container-'));
  const id = `rungate-${randomUUID()}`;
  const runc = ['--root', join(folder, 'state')];
  mkdirSync(join(folder, 'bundle'));
  writeFileSync(join(folder, 'bundle/config.json'), JSON.stringify(bundleConfig(settings)));
  onTestFinished(() => {
    // --force stops a container that a failed test has left.
    spawnSync('runc', [...runc, 'delete', '--force', id]);
    rmSync(folder, { recursive: true, force: true });
  });
  const user = settings.user ?? config.User;
  return {
    run: [...runc, 'run', '--bundle', join(folder, 'bundle'), id],
    exec: (command: readonly string[]) => start('runc', [...runc, 'exec', '--user', user, id, ...command]),
  };
}

/** Starts a container. A signal to `child` goes to its process 1, and `exec` runs a command in the container. */
export function container(settings: Settings) {
  const { run, exec } = prepare(settings);
  return { ...start('runc', run), exec };
}

/** Starts a container in a terminal. */
export function terminalContainer(settings: Settings) {
  const { run, exec } = prepare({ ...settings, terminal: true });
  return { ...inTerminal([], {}, { command: ['runc', ...run] }), exec };
}

/** Starts a mock, and returns the variables with which a container finds it. */
export async function service(options: MockOptions) {
  const mock = await startMock({ retryAfterSeconds: 0.1, duration: 100, ...options });
  onTestFinished(() => mock.close());
  return { mock, env: { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey } };
}

/** Creates a folder of the host to mount, which is removed with the test. */
export function workspace(owner: number, files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-workspace-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  chmodSync(folder, 0o755);
  execFileSync('chown', ['-R', String(owner), folder]);
  return folder;
}
