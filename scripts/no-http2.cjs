// Replaces Node's http2 in undici, which then works as on a Node without HTTP/2. Loading http2 takes 5 ms of each command on
// Node 20 and 15 ms on Node 22 and later, and rungate never uses it.
module.exports = { constants: {} };
