// Single executables, as Node makes them: https://nodejs.org/api/single-executable-applications.html
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'postject';

/**
 * Writes a copy of Node that runs an application.
 * @param application the paths of its main script and its assets
 * @param builder the same version of Node for this machine
 */
export async function writeExecutable(file, application, builder, node = builder) {
  const work = mkdtempSync(join(tmpdir(), 'rungate-executable-'));
  try {
    const [config, output] = [join(work, 'config.json'), join(work, 'blob')];
    writeFileSync(config, JSON.stringify({ ...application, output, disableExperimentalSEAWarning: true }));
    execFileSync(builder, ['--experimental-sea-config', config], { stdio: 'ignore' });
    copyFileSync(node, file);
    chmodSync(file, 0o755);
    const isMacOs = process.platform === 'darwin';
    if (isMacOs) execFileSync('codesign', ['--remove-signature', file]);
    await inject(file, 'NODE_SEA_BLOB', readFileSync(output), {
      sentinelFuse: 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
      machoSegmentName: 'NODE_SEA',
    });
    if (isMacOs) execFileSync('codesign', ['--sign', '-', file]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
