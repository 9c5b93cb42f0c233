import { describe, expect, it } from 'vitest';
import { type ObservationStatus, observationStatuses } from '../../src/mock/data/observations.ts';
import { startService } from './service.ts';

const operations = ['confirm', 'archive', 'supersede', 'promote-to-ticket', 'promote-to-wiki'];

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
  it.each(observationStatuses)('from %s succeed, or get 409 and change nothing', async (status) => {
    const { mock, asUser, clock } = await startService();
    clock.advance(1000);
    const list = [...(mock.state.account.projects.get('shop')?.values() ?? [])].filter(
      (one) => one.status === status,
    );
    for (const [index, operation] of operations.entries()) {
      const before = list[index];
      const path = `/api/projects/shop/observations/${before?.id}`;
      const response = await asUser('POST', `${path}/${operation}`);
      const after = (await asUser('GET', path)).json();
      const next = table[status].split(' ')[index];
      if (next === '-') {
        expect([response.status, response.json().error, after]).toEqual([409, 'Conflict', before]);
        expect(response.json().details).toContain(`is ${status} and cannot be `);
      } else {
        expect([response.status, response.json()]).toEqual([200, after]);
        const traces = {
          ticketId: operation === 'promote-to-ticket' ? expect.stringMatching(/^tck_/) : before?.ticketId,
          wikiPageId: operation === 'promote-to-wiki' ? expect.stringMatching(/^wiki_/) : before?.wikiPageId,
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
