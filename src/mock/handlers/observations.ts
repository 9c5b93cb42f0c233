import type { observations } from '../../contract/observations.ts';
import { type HandlersOf, notYet } from '../handler.ts';

export const observationsHandlers: HandlersOf<typeof observations> = {
  'observations.list': notYet('observations.list'),
  'observations.get': notYet('observations.get'),
  'observations.search': notYet('observations.search'),
  'observations.create': notYet('observations.create'),
  'observations.update': notYet('observations.update'),
  'observations.attach': notYet('observations.attach'),
  'observations.confirm': notYet('observations.confirm'),
  'observations.archive': notYet('observations.archive'),
  'observations.supersede': notYet('observations.supersede'),
  'observations.promoteToTicket': notYet('observations.promoteToTicket'),
  'observations.promoteToWiki': notYet('observations.promoteToWiki'),
};
