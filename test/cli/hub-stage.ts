import { createServer, type RequestListener } from 'node:http';
import { deliveryReceiver } from '../../src/hub/deliveries.ts';
import type { HubLogEvent } from '../../src/hub/http.ts';
import { memoryHub } from '../../src/hub/hub.ts';
import { serveHub } from '../../src/hub/server.ts';
import { type MockOptions, type MockServer, startMock } from '../../src/mock/server.ts';
import { defaultHeaderNames } from '../../src/webhook/headers.ts';
import { signSync } from '../../src/webhook/node.ts';
import { fakeTerminal } from '../fake-terminal.ts';
import { listen } from '../listen.ts';
import { turns, until } from '../until.ts';
import { type VirtualTime, virtualTime } from '../virtual-time.ts';
import { memoryIo, type Result, type Settings } from './harness.ts';
import { main } from './main.ts';

const webhookSecret = 'whsec_of_the_hub';
export const hubToken = 'hub-token-Zk3J9aQ7Lm2X';

export interface TestHub {
  readonly url: string;
  readonly log: readonly HubLogEvent[];
  /** Sends a signed delivery, and returns the status code of the response. */
  deliver(json: unknown): Promise<number>;
  close(): Promise<void>;
}

/** A mock, hubs and commands on one virtual clock, over real sockets. */
export interface HubStage {
  readonly time: VirtualTime;
  readonly mock: MockServer;
  readonly env: Record<string, string>;
  /** Starts a hub; 0 picks any free port. */
  hub(port?: number, redis?: boolean | null): Promise<TestHub>;
  /** Starts another server in place of a hub, and returns its URL. */
  server(handle: RequestListener): Promise<string>;
  /** Starts a command that uses the hub at a URL. */
  start(url: string, argv: readonly string[], settings?: Settings): Running;
  /** Waits until a condition holds, while time passes in small steps or, without `stepMs`, not at all. */
  settle(holds?: () => boolean, stepMs?: number): Promise<void>;
  /** Lets time pass. Requests in transit arrive before it goes on. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

export interface Running {
  /** Null while the command runs. */
  readonly result: Result | null;
  /** Returns the output so far. */
  printed(): { out: string; err: string };
  /** Waits until it has printed a text, without letting time pass. */
  prints(text: string): Promise<void>;
  /** The id of the run that it has created. */
  runId(): string;
  /** Lets time pass until the command ends, and returns its result. */
  end(): Promise<Result>;
}

const stepMs = 250;
const longestMs = 2 * 60 * 60_000;

export async function hubStage(options: MockOptions = {}): Promise<HubStage> {
  const time = virtualTime(Math.floor(Date.now() / 1000) * 1000);
  const { clock } = time;
  const mock = await startMock({ clock, ...options });
  const env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey };
  const cleanups: (() => unknown)[] = [() => mock.close()];

  const every = (ms: number, beat: () => void) => {
    let over = false;
    const again = () => {
      if (over) return;
      beat();
      time.at(clock.monotonic() + ms, again);
    };
    time.at(clock.monotonic() + ms, again);
    return () => {
      over = true;
    };
  };

  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= stepMs) {
      await turns();
      await time.run(Math.min(left, stepMs));
    }
    await turns();
  };

  return {
    time,
    mock,
    env,
    pass,
    settle: (holds = () => true, ms = 0) =>
      until(async () => {
        await turns();
        await time.run(ms);
        return holds();
      }),
    async hub(port = 0, redis = null) {
      const log: HubLogEvent[] = [];
      const limits = { reads: 48, creates: 16, requests: 80 };
      const server = await serveHub('127.0.0.1', port, {
        hub: memoryHub(limits, clock, true),
        clock,
        every,
        tokens: [hubToken],
        receive: deliveryReceiver(
          { secrets: [webhookSecret], tenantSecret: undefined, headerNames: defaultHeaderNames },
          Date.now,
        ),
        redis: () => (redis === null ? null : { works: redis, wasReached: true }),
        startJob: null,
        metrics: async () => ({ type: 'text/plain', text: '' }),
        log: (event) => log.push(event),
      });
      let closed: Promise<void> | undefined;
      const close = () => {
        closed ??= server.close(0);
        return closed;
      };
      cleanups.unshift(close);
      return {
        url: server.url,
        log,
        async deliver(json) {
          const body = JSON.stringify(json);
          const { timestamp, signature } = signSync({ body, secret: webhookSecret });
          const headers = {
            [defaultHeaderNames.timestamp]: timestamp,
            [defaultHeaderNames.signature]: signature,
          };
          return (await fetch(`${server.url}/deliveries`, { method: 'POST', body, headers })).status;
        },
        close,
      };
    },
    server: async (handle) => `http://127.0.0.1:${await listen(createServer(handle))}`,
    start(url, argv, settings = {}) {
      const hub = { RUNGATE_HUB_URL: url, RUNGATE_HUB_TOKEN: hubToken };
      let result: Result | null = null;
      const { io, printed: kept } = memoryIo({
        clock,
        ...settings,
        env: { ...env, ...hub, ...settings.env },
      });
      const { terminal, written } = fakeTerminal(200, 24);
      // With `isTTY`, standard error is a terminal, which the live view needs.
      if (settings.isTTY === true) {
        const write = (text: string) => new Promise<void>((resolve) => terminal.write(text, () => resolve()));
        Object.assign(io, { err: { ...io.err, terminal, write }, every });
      }
      const printed = () => ({ out: kept().out, err: kept().err + written() });
      const ended = main(argv, io).then((code) => {
        result = { code, ...printed() };
      });
      return {
        printed,
        prints: (text) =>
          until(async () => {
            await time.run(0);
            return Object.values(printed()).join('').includes(text);
          }),
        runId: () => /created run: (\S+)/.exec(printed().err)?.[1] ?? 'none',
        get result() {
          return result;
        },
        async end() {
          for (let passed = 0; result === null && passed < longestMs; passed += stepMs) await pass(stepMs);
          await ended;
          return result as unknown as Result;
        },
      };
    },
    async close() {
      for (const cleanup of cleanups) await cleanup();
    },
  };
}
