// The commands of Redis that the hub uses, or that its client sends by itself. The build replaces the client's list of all
// commands with this one: the others would be a fifth of the package.
import AUTH from '@redis/client/dist/lib/commands/AUTH.js';
import CLIENT_SETNAME from '@redis/client/dist/lib/commands/CLIENT_SETNAME.js';
import DEL from '@redis/client/dist/lib/commands/DEL.js';
import GET from '@redis/client/dist/lib/commands/GET.js';
import READONLY from '@redis/client/dist/lib/commands/READONLY.js';
import SET from '@redis/client/dist/lib/commands/SET.js';
import XREAD from '@redis/client/dist/lib/commands/XREAD.js';
import ZMSCORE from '@redis/client/dist/lib/commands/ZMSCORE.js';

export const NON_STICKY_COMMANDS = {
  AUTH: AUTH.default,
  CLIENT_SETNAME: CLIENT_SETNAME.default,
  READONLY: READONLY.default,
  del: DEL.default,
  get: GET.default,
  set: SET.default,
  xRead: XREAD.default,
  zmScore: ZMSCORE.default,
};
export default NON_STICKY_COMMANDS;
