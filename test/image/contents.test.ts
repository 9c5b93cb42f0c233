import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { version } from '../../src/version.ts';
import { root } from '../e2e/built.ts';
import { config, container, rootFileSystem } from './container.ts';

it('starts rungate, not as root, in the folder of the workspace', () => {
  expect(config).toMatchObject({ Entrypoint: ['rungate'], User: '65532:65532', WorkingDir: '/workspace' });
  expect(config.Cmd ?? []).toEqual([]);
  expect(config).not.toHaveProperty('Healthcheck');
});

it('has labels with the description and licence of package.json', () => {
  const { description, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const label = (name: string) => config.Labels[`org.opencontainers.image.${name}`];
  expect(['title', 'description', 'licenses'].map(label)).toEqual(['rungate', description, license]);
  expect(['version', 'revision', 'source'].map(label)).toEqual([
    version,
    'revision-1',
    'https://source.test',
  ]);
});

it('has no Node, npm, curl or git', async () => {
  const { code, out } = await container({ entrypoint: ['sh', '-c'], args: ['command -v node npm curl git'] })
    .ended;
  expect({ code, out }).toEqual({ code: 127, out: '' });
  const { stdout } = spawnSync('find', [rootFileSystem, '-xdev', '-name', 'node*'], { encoding: 'utf8' });
  expect(stdout).toBe('');
});

it('has the executable with its licences, and the certificates of public authorities', () => {
  const licences = readdirSync(join(root, `dist/binary/linux-${process.arch}`)).filter(
    (name) => name !== 'rungate',
  );
  const folder = join(rootFileSystem, 'usr/share/doc/rungate');
  expect(readdirSync(folder).toSorted()).toEqual(licences.toSorted());
  for (const name of licences) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o644);
  const certificates = readFileSync(join(rootFileSystem, 'etc/ssl/certs/ca-certificates.crt'), 'utf8');
  expect(certificates.match(/BEGIN CERTIFICATE/g)?.length).toBeGreaterThan(100);
  expect(existsSync(join(rootFileSystem, 'binary'))).toBe(false);
});

it('prints the version without any setting', async () => {
  const { code, out, err } = await container({ args: ['--version'], readOnly: true }).ended;
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(new RegExp(`^${version.replaceAll('.', '\\.')} \\(binary, Node 24\\.[\\d.]+\\)\n$`));
});
