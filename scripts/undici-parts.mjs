// The parts of undici that src/transport imports. The build resolves 'undici' to this file, since undici's index also loads
// fetch, WebSocket, mocks and caches.
export { default as buildConnector } from 'undici/lib/core/connect.js';
export { default as Agent } from 'undici/lib/dispatcher/agent.js';
export { default as Pool } from 'undici/lib/dispatcher/pool.js';
export { default as ProxyAgent } from 'undici/lib/dispatcher/proxy-agent.js';
