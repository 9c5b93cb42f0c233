import type { Caller } from '../../src/client/caller.ts';
import type { Page, PageQuery } from '../../src/client/list.ts';
import { readPages } from '../../src/client/pages.ts';
import { env } from '../../src/contract/env.ts';
import { redactNothing } from '../../src/redact.ts';

/** Returns one page. It must end soon after the signal is aborted. */
export type FetchPage = (page: number, signal: AbortSignal) => Promise<Page>;

/** Reads the pages of a list from a caller that responds with them. */
export function pagesFrom(fetchPage: FetchPage, query: PageQuery = {}) {
  const caller: Pick<Caller, 'exchange'> = {
    async exchange(_name, _endpoint, input, options) {
      const { page } = input.query as { page: number };
      const value = await fetchPage(page, options?.signal ?? new AbortController().signal);
      return {
        value,
        mismatches: [],
        text: JSON.stringify(value),
        isJson: true,
        status: 200,
        request: 'GET /api/environments',
        headers: {},
        requests: 1,
        elapsedMs: 0,
        redact: redactNothing,
      };
    },
  };
  return readPages(caller, 'env.list', env['env.list'], { params: {}, query: { ...query } });
}
