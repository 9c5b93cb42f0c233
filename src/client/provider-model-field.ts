import type { Transport } from '../transport/transport.ts';

/** The interface's neutral word for a field whose real name carries a vendor's (interface, section 2.8). */
const neutral = 'providerModel';

/** Renames a key in JSON text, wherever it stands. A quote within a text is escaped, so only keys are found. */
export function renameKey(json: string, from: string, to: string): string {
  const key = JSON.stringify(from).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return json.replace(new RegExp(`(?<!\\\\)${key}(?=\\s*:)`, 'g'), () => JSON.stringify(to));
}

/** The transport for a service that calls the model of an environment `field`: renamed on the wire, both ways. */
export function withVendorField(transport: Transport, field: string): Transport {
  return {
    async send(request, options) {
      if (!request.endpoint.startsWith('env.')) return transport.send(request, options);
      const { body } = request;
      const renamed =
        typeof body === 'string' ? { ...request, body: renameKey(body, neutral, field) } : request;
      const reply = await transport.send(renamed, options);
      return { ...reply, text: renameKey(reply.text, field, neutral) };
    },
    close: () => transport.close(),
  };
}
