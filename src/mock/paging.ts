import { defaultPageSize } from '../contract/fields.ts';
import { MockError } from './reply.ts';

/** Anything that knows how much it has and can hand out a stretch of it. */
export interface Sliceable<T> {
  readonly size: number;
  slice(skip: number, take: number): readonly T[];
}

/** A type and no interface: the contract lets a page have more than these. */
export type Page<T> = {
  items: T[];
  totalCount: number;
  page: number;
  pageSize: number;
  totalPages: number;
  hasNextPage: boolean;
  hasPreviousPage: boolean;
};

export interface PageQuery {
  page?: number | undefined;
  pageSize?: number | undefined;
}

/** Not shown (interface, section 8). */
const largestPageSize = 100;

export function listed<T>(items: readonly T[]): Sliceable<T> {
  return { size: items.length, slice: (skip, take) => items.slice(skip, skip + take) };
}

/** All of a list in a shape of its own, or a page of it where the query asks for one. */
export function pageIfAsked<T, Sent, Whole>(
  list: readonly T[],
  query: PageQuery,
  sent: (item: T) => Sent,
  whole: (items: Sent[]) => Whole,
): Page<Sent> | Whole {
  const asked = query.page !== undefined || query.pageSize !== undefined;
  return asked ? pageOf(listed(list), query, sent) : whole(list.map(sent));
}

/** One page of a list, in the shape of the interface, section 2.9. Beyond the end there is nothing, and no error. */
export function pageOf<T, Sent>(list: Sliceable<T>, query: PageQuery, sent: (item: T) => Sent): Page<Sent> {
  const { page = 1, pageSize = defaultPageSize } = query;
  if (pageSize > largestPageSize) {
    throw new MockError(422, 'Invalid query', `query.pageSize: expected at most ${largestPageSize}`);
  }
  const totalPages = Math.ceil(list.size / pageSize);
  return {
    items: list.slice((page - 1) * pageSize, pageSize).map(sent),
    totalCount: list.size,
    page,
    pageSize,
    totalPages,
    hasNextPage: page < totalPages,
    hasPreviousPage: page > 1,
  };
}
