import * as z from 'zod/mini';
import { parseFault } from '../faults/parse.ts';
import { sendAgain, sendTest } from '../handlers/webhooks.ts';
import { known, MockError } from '../reply.ts';
import { endings, endRun } from '../runs.ts';
import { check, parseJson } from '../validate.ts';
import { secretsOf, shownUrl } from './mask.ts';
import { findRun, type Scene, webhooksOf } from './snapshot.ts';

const id = z.string();

/** What a click asks for. */
const actionBody = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('end'), run: id, as: z.enum(endings) }),
  z.strictObject({ do: z.literal('test'), webhook: id }),
  z.strictObject({ do: z.literal('retry'), delivery: id }),
  z.strictObject({ do: z.literal('fault'), fault: z.string() }),
  z.strictObject({ do: z.literal('off'), fault: z.int() }),
]);

function refuse(problems: string): MockError {
  return new MockError(422, 'Not an action', problems);
}

/** Does what a click asks for, as a request to the service would, and says what was done. */
export function act({ state, faults, tenantSecret }: Scene, bytes: Uint8Array): string {
  const action = check(actionBody, parseJson(bytes), 'body', refuse);
  const webhooks = webhooksOf(state);
  switch (action.do) {
    case 'end': {
      const run = known(findRun(state, action.run), 'Run', action.run);
      const ended = endRun(state, run, action.as, 'by hand, on the page of the mock');
      return ended ? `${run.id} ended as ${action.as}` : `${run.id} had ended before`;
    }
    case 'test': {
      const found = webhooks.find((one) => one.id === action.webhook);
      const webhook = known(found, 'Webhook', action.webhook);
      const { status } = sendTest(state, webhook);
      const url = shownUrl(webhook.url, secretsOf(state, tenantSecret));
      return `Test event to ${url}: ${status.replace('_', ' ')}`;
    }
    case 'retry': {
      const found = webhooks.find(({ deliveries }) => deliveries.has(action.delivery));
      const webhook = known(found, 'Delivery', action.delivery);
      const { eventType, status } = sendAgain(state, webhook, action.delivery);
      return `${eventType} sent again: ${status.replace('_', ' ')}`;
    }
    case 'fault':
      try {
        faults.add(parseFault(action.fault));
      } catch (error) {
        throw refuse((error as Error).message);
      }
      return `Fault ${action.fault} is on`;
    case 'off':
      return faults.remove(action.fault) ? 'The fault is off' : 'The fault was off already';
  }
}
