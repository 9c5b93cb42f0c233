import * as z from 'zod/mini';
import { detachedPaths, longestSealed, mostRuns, type RegisterRequest } from '../gate/detached/protocol.ts';
import { mayBeNamed } from '../gate/fleet/protocol.ts';
import type { DetachedGates } from './detached.ts';
import { BadRequest, type Route, readJsonBody, sendJson } from './http.ts';

const longestMs = 7 * 24 * 60 * 60_000;

const text = (pattern: RegExp) => z.string().check(z.regex(pattern));
const id = text(/^[0-9a-f]{16}$/);
const job = text(/^[\w-]{16,64}$/);
/** Neither part may be `.` or `..`, which a URL would leave out. */
const repository = text(/^[A-Za-z0-9][\w-]{0,38}\/(?!\.{1,2}$)[\w.-]{1,100}$/);
/** As Git allows them. */
const branch = text(
  /^(?![/-]|refs\/)(?!.*(?:\.\.|\/[/.]|@\{|\.lock(?:\/|$)|[/.]$))[^\u0000-\u0020\u007f~^:?*[\\]{1,255}$/,
);

const state = {
  sealed: text(/^[\w-]+$/).check(z.maxLength(longestSealed)),
  runs: z.array(z.string().check(z.refine(mayBeNamed))).check(z.maxLength(mostRuns)),
  // Below 0 after the timeout.
  endsInMs: z.number().check(z.gte(-longestMs), z.lte(longestMs)),
};
const held = z.object({ id, job });
const saving = z.object({ id, job, ...state, done: z.boolean(), released: z.boolean() });
const registering: z.ZodMiniType<RegisterRequest> = z.object({
  id,
  job,
  repository,
  commit: text(/^[0-9a-f]{7,64}$/),
  context: text(/^[^\u0000-\u001f\u007f-\u009f]{1,255}$/),
  ref: branch,
  pull: z.nullable(text(/^\d{1,20}$/)),
  order: z.optional(z.int()),
  kind: z.optional(text(/^[0-9a-f]{8}$/)),
  ...state,
});
const listing = z.object({ repository });

/** Returns a route that checks the body, and sends what an operation returns. */
function routeOf<Body>(schema: z.ZodMiniType<Body>, operation: (body: Body) => Promise<unknown>): Route {
  return async (request, response) => {
    const body = schema.safeParse(await readJsonBody(request));
    if (!body.success)
      throw new BadRequest(400, `${body.error.issues[0]?.path.join('.')} is missing or invalid`);
    const result = await operation(body.data);
    sendJson(response, result === undefined ? 204 : 200, result);
  };
}

/** Returns the routes for detached gates. */
export function createDetachedRoutes(
  gates: DetachedGates,
  forGates: (route: Route) => Route,
): Readonly<Record<string, Route>> {
  const { register, save, fetch, decide, list } = detachedPaths;
  return {
    [`POST ${register}`]: forGates(routeOf(registering, (body) => gates.register(body))),
    [`POST ${save}`]: forGates(routeOf(saving, (body) => gates.save(body))),
    [`POST ${fetch}`]: forGates(routeOf(held, (body) => gates.fetch(body))),
    [`POST ${decide}`]: forGates(routeOf(held, (body) => gates.decide(body))),
    [`POST ${list}`]: forGates(routeOf(listing, (body) => gates.list(body))),
  };
}
