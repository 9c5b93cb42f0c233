// undici's own files, imported past its index: the whole package costs a command 50 ms of start-up, these 25.
declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici';
  export default Agent;
}

declare module 'undici/lib/core/connect.js' {
  import type { Socket } from 'node:net';
  import type { buildConnector } from 'undici';
  /** The connector returns the socket that it begins to connect, which undici's public type leaves out. */
  export default function build(
    options: buildConnector.BuildOptions,
  ): (options: buildConnector.Options, callback: buildConnector.Callback) => Socket;
}

declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';
  export default Pool;
}

declare module 'undici/lib/dispatcher/proxy-agent.js' {
  import { ProxyAgent } from 'undici';
  export default ProxyAgent;
}

declare module 'undici/lib/api/api-connect.js' {
  import type { Dispatcher } from 'undici';
  /** The method that undici's index puts on every dispatcher. */
  export default function connect(
    this: Dispatcher,
    options: Dispatcher.ConnectOptions,
  ): Promise<Dispatcher.ConnectData>;
}
