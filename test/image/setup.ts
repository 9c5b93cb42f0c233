import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { version } from '../../src/version.ts';
import { root } from '../e2e/built.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder with the image: `oci` in the image layout, and `bundle` unpacked. */
    image: string;
  }
}

/** The folders of /usr/share that debian:13-slim leaves out. */
const leftOut = ['doc', 'man', 'locale', 'info'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);

/** Builds the image with the repository's Dockerfile, on a Debian 13 made from its packages, and unpacks it. */
export default function setup(project: TestProject): () => void {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new Error('the tests of the image start containers: run them on Linux, as root');
  if (!existsSync(join(root, `dist/binary/linux-${process.arch}/rungate`)))
    throw new Error('the executable is missing: run npm run build:binary');
  const folder = mkdtempSync(join(tmpdir(), 'rungate-image-'));
  const at = (name: string) => join(folder, name);
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const buildah = (...args: string[]) =>
    run('buildah', '--storage-driver', 'vfs', '--root', at('store'), '--runroot', at('run'), ...args).trim();
  const clean = () => rmSync(folder, { recursive: true, force: true });
  try {
    const base = buildah('from', 'scratch');
    const mirror = 'deb http://deb.debian.org/debian trixie main';
    run('mmdebstrap', '--variant=minbase', ...leftOut, 'trixie', buildah('mount', base), mirror);
    buildah('commit', '--quiet', '--rm', base, 'localhost/base');
    const values = {
      BASE: 'localhost/base',
      VERSION: version,
      REVISION: 'revision-1',
      SOURCE: 'https://source.test',
    };
    const given = Object.entries(values).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
    buildah('bud', '--isolation', 'chroot', ...given, '--tag', 'localhost/rungate', '.');
    buildah('push', '--quiet', '--disable-compression', 'localhost/rungate', `oci:${at('oci')}:rungate`);
    run('umoci', 'unpack', '--image', `${at('oci')}:rungate`, at('bundle'));
    rmSync(at('store'), { recursive: true });
  } catch (error) {
    clean();
    throw error;
  }
  project.provide('image', folder);
  return clean;
}
