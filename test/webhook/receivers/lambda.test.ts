import { describe, expect, test } from 'vitest';
import { type LambdaEvent, receive, statusOf } from '../../../src/webhook/receivers/lambda.ts';
import type { ReceiveOptions } from '../../../src/webhook/receivers/public.ts';
import { balancerEvent, restEvent, urlEvent } from './lambda-events.ts';
import { at, expectNotRaw, headersFor, type Receiver, secret, started, testReceiver } from './suite.ts';

type MakeEvent = typeof restEvent | typeof urlEvent | typeof balancerEvent;

function startWith(make: MakeEvent, after: (event: LambdaEvent) => LambdaEvent = (event) => event) {
  return async (options: ReceiveOptions): Promise<Receiver> => {
    const errors: unknown[] = [];
    return {
      async send(body, headers) {
        const bytes = Buffer.from(body);
        const text = bytes.toString('utf8');
        // Binary bodies are base64: from function URLs always, from API Gateway if the media type is configured as binary.
        const isBase64Encoded = !Buffer.from(text).equals(bytes);
        const eventBody = bytes.length === 0 ? null : isBase64Encoded ? bytes.toString('base64') : text;
        const event = after(make(headers, { body: eventBody, isBase64Encoded }));
        try {
          return { status: 200, body: Buffer.from((await receive(event, options)).bytes) };
        } catch (error) {
          if (statusOf(error) === 500) errors.push(error);
          return { status: statusOf(error), body: Buffer.alloc(0) };
        }
      },
      errors,
      close: async () => undefined,
    };
  };
}

const kinds: [string, MakeEvent][] = [
  ['a REST API', restEvent],
  ['an HTTP API or a function URL', urlEvent],
  ['a load balancer', balancerEvent],
];

for (const [name, make] of kinds) testReceiver(`Lambda behind ${name}`, startWith(make));

describe.each(kinds)('Lambda behind %s', (_name, make) => {
  test('gives body_not_raw with a remedy if the body was parsed before', async () => {
    const parsed = (event: LambdaEvent) => ({ ...event, body: JSON.parse(String(event.body)) as never });
    const receiver = await started(startWith(make, parsed));
    await expectNotRaw(receiver, /before a body parser.*proxy integration/);
  });
});

test('reads headers that are missing in `multiValueHeaders` from `headers`, as in test events', async () => {
  const event = {
    headers: Object.fromEntries(headersFor('{}')),
    multiValueHeaders: { accept: ['*/*'] },
    body: '{}',
  };
  expect((await receive(event, { secrets: secret, now: () => new Date(at) })).json()).toEqual({});
});

test.each([null, undefined])('gives bad_option for the event %s', async (event) => {
  await expect(receive(event as never, { secrets: secret })).rejects.toMatchObject({ code: 'bad_option' });
});
