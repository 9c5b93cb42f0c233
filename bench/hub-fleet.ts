// A fleet as processes of the built program: hubs, a proxy in front of them, and gates. `bench/hub.mjs` uses it.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Mock } from '../src/index.ts';
import { type Ended, type Running, start } from '../test/e2e/process.ts';

export { freePort } from '../test/free-port.ts';
export { replicate, startRedis, startSentinel } from '../test/hub/redis.ts';

/** Signs the deliveries of the mock. */
export const tenantSecret = 'the secret of the tenant';
const token = 'the-token-of-the-gates';

export interface HubProcess {
  readonly url: string;
  readonly port: number;
  kill(): Promise<void>;
  /** Stops it as an operator does: it may end its work. */
  terminate(): Promise<void>;
  /** Stops the process, so that it does not respond until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** Returns what `GET /readyz` responds with. */
  health(): Promise<{ redis: boolean | null; streams: number; waiting: Record<string, number> }>;
}

/** Starts a hub. @param bin the built program @param port by default any free port */
export async function startHub(bin: string, redisUrl: string, port = 0): Promise<HubProcess> {
  const args = [bin, 'hub', '--port', String(port), '--redis', redisUrl, '--format', 'ndjson'];
  const { child, ended, shows } = start(process.execPath, args, {
    RUNGATE_TENANT_SECRET: tenantSecret,
    RUNGATE_HUB_TOKEN: token,
  });
  const [, url = ''] = await shows(/"event":"listening".*"url":"([^"]+)"/);
  return {
    url,
    port: Number(new URL(url).port),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    async terminate() {
      child.kill('SIGTERM');
      await ended;
    },
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
    health: async () => (await fetch(`${url}/readyz`)).json() as ReturnType<HubProcess['health']>,
  };
}

/** Registers a hub, or a proxy in front of hubs, for the events that end a run. */
export async function register({ url, token }: Mock, hub: { url: string }): Promise<void> {
  const response = await fetch(`${url}/api/webhooks`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ url: `${hub.url}/deliveries`, events: ['run.completed', 'run.cancelled'] }),
  });
  if (!response.ok) throw new Error(`the mock refused the webhook: ${await response.text()}`);
}

export interface HubProxy {
  readonly url: string;
  close(): void;
}

/** Passes each connection on to the next hub that accepts it, like a load balancer. */
export async function startProxy(ports: readonly number[]): Promise<HubProxy> {
  const open = new Set<Socket>();
  let turn = 0;
  const pass = (near: Socket, [port, ...others]: readonly number[]) => {
    if (port === undefined) return void near.destroy();
    const far = connect(port, '127.0.0.1');
    far.once('error', () => pass(near, others));
    far.once('connect', () => {
      far.removeAllListeners('error').on('error', () => {});
      far.once('close', () => near.destroy());
      near.once('close', () => far.destroy());
      near.pipe(far).pipe(near);
    });
  };
  const server = createServer((near) => {
    open.add(near);
    near.on('error', () => {});
    near.once('close', () => open.delete(near));
    const at = turn % ports.length;
    turn += 1;
    pass(near, [...ports.slice(at), ...ports.slice(0, at)]);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

export interface GateResult extends Ended {
  /** The run that the gate reports, or null. */
  runId: string | null;
  /** When the process exited, in wall-clock milliseconds. */
  endedAt: number;
}

export interface GateProcess extends Omit<Running, 'ended'> {
  ended: Promise<GateResult>;
}

function runIdOf(out: string): string | null {
  try {
    return (JSON.parse(out) as { runs: { runId: string }[] }).runs[0]?.runId ?? null;
  } catch {
    return null;
  }
}

/** Starts a gate that creates a run and waits for it. */
export function startGate(
  bin: string,
  mock: Mock,
  hubUrl: string,
  args: readonly string[] = [],
): GateProcess {
  const what = ['--project', 'shop', '--process', 'checkout'];
  const command = [bin, 'run', 'trigger', ...what, '--wait', '--strict', '--json'];
  const running = start(process.execPath, [...command, ...args], {
    RUNGATE_API_URL: mock.url,
    RUNGATE_API_KEY: mock.apiKey,
    RUNGATE_HUB_URL: hubUrl,
    RUNGATE_HUB_TOKEN: token,
  });
  let endedAt = Number.NaN;
  running.child.once('exit', () => {
    endedAt = Date.now();
  });
  const ended = running.ended.then((result) => ({ ...result, runId: runIdOf(result.out), endedAt }));
  return { ...running, ended };
}

/** Returns the exit code of a gate whose run ended as the mock says. */
export function expectedCode(mock: Mock, runId: string | null): number | null {
  const run = mock.runs.find((one) => one.runId === runId);
  if (run === undefined || run.state === 'in_progress') return null;
  if (run.state === 'cancelled') return 4;
  if (run.failed > 0) return 1;
  return run.blocked > 0 ? 2 : 0;
}

/** Returns when the run ended, in wall-clock milliseconds. */
export function endOf(mock: Mock, runId: string | null): number {
  const delivery = mock.deliveries.find(
    ({ eventType, payload }) =>
      /^run\.(completed|cancelled)$/.test(eventType) && (payload.data as { runId?: unknown }).runId === runId,
  );
  return delivery === undefined ? Number.NaN : Date.parse(delivery.createdAt);
}
