// Node for Windows loads this before each program. In Wine 8 a socket cannot connect if keep-alive was set before, as Node's own
// fetch does; set it once the socket is connected.
const { Socket } = require('node:net');

const { setKeepAlive } = Socket.prototype;
Socket.prototype.setKeepAlive = function (...args) {
  return this.connecting
    ? this.once('connect', () => setKeepAlive.apply(this, args))
    : setKeepAlive.apply(this, args);
};
