// Takes the place of Node's http2 in undici, which then does without, as on a Node that is built without it: loading it
// takes 5 ms of a command on Node 20 and 15 ms on Node 22 and later, and no request of ours uses HTTP/2.
module.exports = { constants: {} };
