import * as z from 'zod/mini';
import type { ObservationStatus } from '../data/observations.ts';
import { invalidBody, without } from '../fields.ts';

const title = z.string().check(z.minLength(1));
const text = z.optional(z.nullable(z.string()));
const severities = ['low', 'medium', 'high', 'critical'];

const shown = {
  description: z.optional(z.string()),
  severity: z.optional(
    z.string().check(
      z.refine((value) => severities.includes(value), {
        error: `expected one of ${severities.join(', ')}`,
      }),
    ),
  ),
  discoveredInEnvironmentKey: text,
  discoveredInEnvironmentVersion: text,
  processRunId: text,
  createdByAgentTemplateId: text,
};

export const newObservation = z.looseObject({ title, ...shown });
export const observationChanges = z.looseObject({ title: z.optional(title), ...shown });
export const superseding = z.looseObject({ supersededBy: z.optional(z.string()) });

/** What only the service writes. A reader may send it back as it came. */
const ownFields = [
  'id',
  'projectId',
  'status',
  'supersededBy',
  'ticketId',
  'wikiPageId',
  'attachments',
  'createdAt',
  'updatedAt',
];

/**
 * The fields of a body that are written as they came. 422 for one that asks for another status: that is what
 * the operations are for.
 */
export function writable(
  body: Readonly<Record<string, unknown>>,
  status: ObservationStatus,
): Record<string, unknown> {
  if (body.status === undefined || body.status === status) return without(body, ownFields);
  throw invalidBody(
    `body.status: is ${status}, and changes by confirm, archive, supersede and promotion only`,
  );
}
