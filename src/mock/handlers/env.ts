import type { env } from '../../contract/env.ts';
import { type HandlersOf, notYet } from '../handler.ts';

export const envHandlers: HandlersOf<typeof env> = {
  'env.overview': notYet('env.overview'),
  'env.list': notYet('env.list'),
  'env.create': notYet('env.create'),
  'env.update': notYet('env.update'),
  'env.delete': notYet('env.delete'),
  'env.vars.list': notYet('env.vars.list'),
  'env.vars.create': notYet('env.vars.create'),
  'env.vars.update': notYet('env.vars.update'),
  'env.vars.delete': notYet('env.vars.delete'),
};
