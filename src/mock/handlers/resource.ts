import type { Account } from '../data/account.ts';
import { type MockPage, type RequestedPage, requireFound, servedPage } from '../response.ts';
import type { State } from '../state.ts';
import { invalidBody } from '../validate.ts';

/** The part of a request that the operations of a resource read; every request has it. */
export interface ItemRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: RequestedPage;
  readonly account: Account;
  readonly state: State;
  /** When the mock received the request, in ISO 8601. */
  readonly now: string;
}

interface Item {
  readonly id: string;
  readonly createdAt: string;
}

interface Kind<T extends Item, Sent> {
  /** The name in errors. */
  readonly name: string;
  /** The start of new ids. */
  readonly prefix: string;
  /** The path parameter with the id; default `id`. */
  readonly param?: string;
  /** The field that no two items may share. */
  readonly unique?: keyof T & string;
  /** Returns all items that a request is about, oldest first. */
  items(request: ItemRequest): Map<string, T>;
  sent(item: T): Sent;
  /** Announces a change to webhooks. */
  announce?(state: State, change: 'created' | 'updated' | 'deleted', item: T): void;
}

/** Returns what endpoints for the items of one kind share: each operation is a handler, or the end of one. */
export function resource<T extends Item, Sent>(kind: Kind<T, Sent>) {
  const find = (request: ItemRequest): T => {
    const id = request.params[kind.param ?? 'id'] ?? '';
    return requireFound(kind.items(request).get(id), kind.name, id);
  };
  const save = (request: ItemRequest, change: 'created' | 'updated', item: T): Sent => {
    const { unique, name } = kind;
    const value = unique && item[unique];
    for (const other of value ? kind.items(request).values() : []) {
      if (unique && other[unique] === value && other.id !== item.id)
        throw invalidBody(`body.${unique}: another ${name.toLowerCase()} has the ${unique} ${value}`);
    }
    kind.items(request).set(item.id, item);
    kind.announce?.(request.state, change, item);
    return kind.sent(item);
  };
  const page = (request: ItemRequest, items: readonly T[] = [...kind.items(request).values()]) => ({
    body: servedPage(items, request.query, kind.sent),
  });
  return {
    find,
    page,
    /** Returns a page if the request asks for one, otherwise the whole list in its own shape. */
    list<Whole>(
      request: ItemRequest,
      items: readonly T[],
      whole: (all: Sent[]) => Whole,
    ): { body: MockPage<Sent> | Whole } {
      const { query } = request;
      const isPaged = query.page !== undefined || query.pageSize !== undefined;
      return isPaged ? page(request, items) : { body: whole(items.map(kind.sent)) };
    },
    get: (request: ItemRequest) => ({ body: kind.sent(find(request)) }),
    create(request: ItemRequest, fields: Omit<T, 'id'>) {
      const id = request.state.nextId(kind.prefix);
      // The id comes first in the JSON, and a body cannot replace it.
      return { status: 201, body: save(request, 'created', Object.assign({ id }, fields, { id }) as T) };
    },
    /** Changes some fields, never the id or the time of creation. */
    update(request: ItemRequest, fields: Partial<T>) {
      const before = find(request);
      const { id, createdAt } = before;
      return { body: save(request, 'updated', { ...before, ...fields, id, createdAt }) };
    },
    delete: (request: ItemRequest) => {
      const gone = find(request);
      kind.items(request).delete(gone.id);
      kind.announce?.(request.state, 'deleted', gone);
      return {};
    },
  };
}
