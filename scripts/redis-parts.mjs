// The parts of @redis/client that src/hub imports. The build resolves '@redis/client' to this file, since its index also
// loads the clients of clusters and sentinels.
import client from '@redis/client/dist/lib/client/index.js';
import script from '@redis/client/dist/lib/lua-script.js';

export const { create: createClient } = client.default;
export const { defineScript } = script;
