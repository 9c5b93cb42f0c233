import * as z from 'zod/mini';
import { UsageError } from '../../errors.ts';
import { parseFault } from '../faults/parse.ts';
import { sendAgain, sendTest } from '../handlers/webhooks.ts';
import { known, MockError } from '../reply.ts';
import { endings, endRun } from '../runs.ts';
import { check } from '../validate.ts';
import { secretsOf, shownUrl } from './mask.ts';
import type { Scene } from './scene.ts';
import { findRun, webhooksOf } from './snapshot.ts';

const id = z.string();

/** What a click asks for. */
const actionBody = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('end'), run: id, as: z.enum(endings) }),
  z.strictObject({ do: z.literal('test'), webhook: id }),
  z.strictObject({ do: z.literal('retry'), delivery: id }),
  z.strictObject({ do: z.literal('fault'), fault: z.string() }),
  z.strictObject({ do: z.literal('off'), fault: z.int() }),
]);
type Action = z.infer<typeof actionBody>;

function readAction(bytes: Uint8Array): Action {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new MockError(400, 'Malformed body', 'body: not JSON');
  }
  return check(actionBody, value, 'body', (problems) => new MockError(422, 'Not an action', problems));
}

function addFault({ faults }: Scene, text: string): string {
  try {
    faults.add(parseFault(text));
  } catch (error) {
    if (error instanceof UsageError) throw new MockError(422, 'Not a fault', error.message);
    throw error;
  }
  return `Fault ${text} is on`;
}

/** Does what a click asks for, as a request to the service would, and says what was done. */
export function act(scene: Scene, bytes: Uint8Array): string {
  const { state, faults } = scene;
  const action = readAction(bytes);
  const named = (url: string) => shownUrl(url, secretsOf(state, scene.tenantSecret));
  switch (action.do) {
    case 'end': {
      const run = known(findRun(scene, action.run), 'Run', action.run);
      const ended = endRun(state, run, action.as, 'by hand, on the page of the mock');
      return ended ? `${run.id} ended as ${action.as}` : `${run.id} had ended before`;
    }
    case 'test': {
      const found = webhooksOf(state).find((one) => one.id === action.webhook);
      const webhook = known(found, 'Webhook', action.webhook);
      const { status } = sendTest(state, webhook);
      return `Test event to ${named(webhook.url)}: ${status.replace('_', ' ')}`;
    }
    case 'retry': {
      const webhook = webhooksOf(state).find(({ deliveries }) => deliveries.has(action.delivery));
      const delivery = known(webhook?.deliveries.get(action.delivery), 'Delivery', action.delivery);
      if (webhook !== undefined) sendAgain(state, webhook, delivery);
      return `${delivery.eventType} sent again: ${delivery.status.replace('_', ' ')}`;
    }
    case 'fault':
      return addFault(scene, action.fault);
    case 'off':
      return faults.remove(action.fault) ? 'The fault is off' : 'The fault was off already';
  }
}
