import { describe, expect, it } from 'vitest';
import { type ObservationStatus, observationStatuses } from '../../src/mock/data/observations.ts';
import { nextStatus, type Operation } from '../../src/mock/handlers/observation-operations.ts';
import { startService } from './service.ts';

const operations: readonly Operation[] = [
  'confirm',
  'archive',
  'supersede',
  'promoteToTicket',
  'promoteToWiki',
];

const paths: Record<Operation, string> = {
  confirm: 'confirm',
  archive: 'archive',
  supersede: 'supersede',
  promoteToTicket: 'promote-to-ticket',
  promoteToWiki: 'promote-to-wiki',
};

/** The status after each operation in the order above; `-` if the operation is not allowed. */
const table: Record<ObservationStatus, string> = {
  open: 'confirmed archived superseded promoted_to_ticket promoted_to_wiki',
  confirmed: '- archived superseded promoted_to_ticket promoted_to_wiki',
  promoted_to_ticket: '- archived superseded - -',
  promoted_to_wiki: '- archived superseded - -',
  superseded: '- archived - - -',
  archived: '- - - - -',
};

describe('the transitions of observations', () => {
  it('match the table', () => {
    const seen = observationStatuses.map((status) => [
      status,
      operations.map((operation) => nextStatus(status, operation) ?? '-').join(' '),
    ]);
    expect(Object.fromEntries(seen)).toEqual(table);
  });

  it.each(observationStatuses)('from %s succeed, or get 409 and change nothing', async (status) => {
    const { mock, asUser, clock } = await startService();
    clock.advance(1000);
    const list = [...(mock.state.account('tenant_1').projects.get('shop') ?? [])].filter(
      (one) => one.status === status,
    );
    for (const [index, operation] of operations.entries()) {
      const before = list[index];
      const path = `/api/projects/shop/observations/${before?.id}`;
      const response = await asUser('POST', `${path}/${paths[operation]}`);
      const after = (await asUser('GET', path)).json();
      const next = table[status].split(' ')[index];
      if (next === '-') {
        expect([response.status, response.json().error, after]).toEqual([409, 'Conflict', before]);
        expect(response.json().details).toContain(`is ${status} and cannot be `);
      } else {
        expect([response.status, response.json()]).toEqual([200, after]);
        const traces = {
          ticketId: operation === 'promoteToTicket' ? expect.stringMatching(/^tck_/) : before?.ticketId,
          wikiPageId: operation === 'promoteToWiki' ? expect.stringMatching(/^wiki_/) : before?.wikiPageId,
        };
        expect(after).toEqual({
          ...before,
          ...traces,
          status: next,
          updatedAt: '2026-01-01T00:00:01.000Z',
        });
      }
    }
  });
});
