import type { keys } from '../../contract/keys.ts';
import { type HandlersOf, notYet } from '../handler.ts';

export const keysHandlers: HandlersOf<typeof keys> = {
  'keys.create': notYet('keys.create'),
  'keys.delete': notYet('keys.delete'),
};
