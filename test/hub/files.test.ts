import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listenPort } from '../../src/commands/webhooks/receiver.ts';
import { read, yaml } from '../docs/ci-job.ts';

const file = (name: string) => read(`docs/hub/${name}`);
const isMissing = (tool: string) => !process.env.REQUIRE_TOOLS && spawnSync(tool, ['--version']).status !== 0;
/** The variables that the hub reads, each also with _FILE. */
const variables = ['RUNGATE_HUB_TOKEN', 'RUNGATE_WEBHOOK_SECRET', 'RUNGATE_HUB_REDIS_URL'];
const known = variables.flatMap((name) => [name, `${name}_FILE`]);
const usedVariables = (text: string) => [...new Set(text.match(/RUNGATE_\w+/g))];

it.each(['compose.yaml', 'kubernetes.yaml', 'rungate-hub@.service'])(
  '%s sets only variables that the hub reads, and the port that it listens on',
  (name) => {
    const text = file(name);
    expect(usedVariables(text).filter((variable) => !known.includes(variable))).toEqual([]);
    expect(text).toContain(String(listenPort()));
  },
);

describe('rungate-hub@.service', () => {
  /** Copies the unit as an instance, with a program that exists here. */
  function unit(): string {
    const folder = mkdtempSync(join(tmpdir(), 'rungate-unit-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'rungate-hub@a.service');
    writeFileSync(path, file('rungate-hub@.service').replace('/usr/local/bin/rungate', process.execPath));
    return path;
  }

  it.skipIf(isMissing('systemd-analyze'))('has no fault that systemd finds', () => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', unit()], { encoding: 'utf8' });
    expect([status, stdout, stderr]).toEqual([0, '', '']);
  });

  it.skipIf(isMissing('systemd-analyze'))('exposes at most 2.0 of 10 by the measure of systemd', () => {
    const args = ['security', '--offline=true', '--threshold=20', unit()];
    const { status, stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    expect(status, stdout).toBe(0);
  });
});

describe('compose.yaml', () => {
  yaml(file('compose.yaml'));

  it.skipIf(isMissing('docker-compose'))('has no fault that docker-compose finds', () => {
    const args = [
      '-f',
      fileURLToPath(new URL('../../docs/hub/compose.yaml', import.meta.url)),
      'config',
      '--quiet',
    ];
    const { status, stderr } = spawnSync('docker-compose', args, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });
});

it('kubernetes.yaml probes the port of the hub, and waits longer than the hub needs to stop', () => {
  const [deployment, service] = file('kubernetes.yaml').split(/^---$/m).map(yaml);
  const { spec, metadata } = deployment.spec.template;
  const [hub] = spec.containers;
  expect(hub.ports).toEqual([{ name: 'http', containerPort: listenPort() }]);
  expect([hub.readinessProbe.httpGet, hub.livenessProbe.httpGet]).toEqual([
    { path: '/readyz', port: 'http' },
    { path: '/livez', port: 'http' },
  ]);
  expect(deployment.spec.selector.matchLabels).toEqual(metadata.labels);
  expect(service.spec).toEqual({ selector: metadata.labels, ports: [{ port: 80, targetPort: 'http' }] });
  const [, pause] = hub.lifecycle.preStop.exec.command;
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(pause) + 8);
});
