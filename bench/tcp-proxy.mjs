import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** Starts a proxy that passes connections on to a port of this machine. Both can be changed while it runs. */
export async function startTcpProxy(port) {
  let target = port;
  let isDark = false;
  /** The connections, each with the other side, which a connection without a response does not have. */
  const open = new Map();
  const server = createServer((near) => {
    const far = isDark ? null : connect(target, '127.0.0.1');
    open.set(near, far);
    near.on('error', () => {});
    near.once('close', () => {
      open.delete(near);
      far?.destroy();
    });
    if (far === null) return;
    far.on('error', () => {});
    far.once('close', () => near.destroy());
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const drop = () => {
    for (const near of open.keys()) near.destroy();
  };
  return {
    port: server.address().port,
    /** Sends new connections to another port. Those that are open stay where they are. */
    turnTo(other) {
      target = other;
    },
    /** Passes nothing on any longer: connections are accepted, and nothing responds. */
    darken() {
      isDark = true;
      for (const [near, far] of open) {
        near.unpipe();
        far?.unpipe();
      }
    },
    /** Drops the connections without a response, and passes new ones on. */
    lighten() {
      isDark = false;
      drop();
    },
    close() {
      server.close();
      drop();
    },
  };
}
