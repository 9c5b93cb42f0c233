import { homeTenant } from '../data/sizes.ts';
import type { Delivery, Webhook } from '../data/webhooks.ts';
import type { RecordedRequest } from '../exchange.ts';
import { progressNow } from '../run-events.ts';
import type { Run } from '../state.ts';
import { shownLine, shownUrl } from './mask.ts';
import { iso, runRow } from './rows.ts';
import type { Scene } from './scene.ts';

/** A delivery that tells of this run. */
export function tellsOf(run: Run, { payload }: Delivery): boolean {
  return (payload.data as { runId?: unknown } | undefined)?.runId === run.id;
}

/** A request that made this run, found it by its key, or named it in its path. */
export function concerns({ note }: Scene, run: Run, request: RecordedRequest): boolean {
  return (
    note(request).runId === run.id ||
    (request.endpoint?.startsWith('run.') === true && request.path.split('/')[4] === run.id)
  );
}

const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`;

function endOf({ cancelled, startedAt, durationMs }: Run): number {
  return cancelled?.at ?? startedAt + durationMs;
}

function fieldsOf(scene: Scene, run: Run): [string, string | undefined][] {
  const { request, outcome, durationMs } = run;
  const goesOn = progressNow(scene.state, run).state === 'in_progress';
  const plan = outcome === 'stuck' ? 'never ends by itself' : `${outcome} after ${seconds(durationMs)}`;
  return [
    ['Project', request.projectSlug],
    ['Process', request.processSlug],
    ['Tags', request.tags?.join(', ')],
    ['Environment', request.environmentKey],
    ['Repository', request.repository],
    ['Ref', request.ref],
    ['Commit', request.commitSha],
    ['Event', request.event],
    ['CI build', request.externalUrl],
    goesOn ? ['Plan', plan] : ['Took', seconds(endOf(run) - run.startedAt)],
  ];
}

/** What happened to a run, oldest first. */
function timelineOf(
  { state, offset }: Scene,
  secrets: readonly string[],
  run: Run,
  deliveries: readonly (readonly [Webhook, Delivery])[],
) {
  const { cancelled } = run;
  const reason = cancelled?.reason === undefined ? '' : `: ${cancelled.reason}`;
  const isOver = progressNow(state, run).state !== 'in_progress';
  const ended = { at: iso(endOf(run) + offset), text: cancelled ? `Cancelled${reason}` : 'Ended' };
  return [
    { at: iso(run.startedAt + offset), text: 'Started' },
    ...deliveries
      .filter(([, { status }]) => status !== 'not_sent')
      .map(([webhook, { createdAt, eventType, status }]) => ({
        at: createdAt,
        text: `${eventType} to ${shownUrl(webhook.url, secrets)}: ${status}`,
      })),
    ...(isOver ? [ended] : []),
  ]
    .toSorted((a, b) => a.at.localeCompare(b.at))
    .map(({ at, text }, index) => ({ key: index, at, text: shownLine(text, secrets) }));
}

/** The run of that id, if the page's tenant has one. */
export function findRun({ state }: Scene, id: string): Run | undefined {
  const run = state.runs.get(id);
  return run?.tenant === homeTenant ? run : undefined;
}

/** One run, with all that is known of it. The mock knows counts, and no single tests. */
export function runPage(
  scene: Scene,
  secrets: readonly string[],
  run: Run,
  deliveries: readonly (readonly [Webhook, Delivery])[],
) {
  return {
    ...runRow(scene, secrets, run),
    fields: fieldsOf(scene, run)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => ({ key: name, name, value: shownLine(String(value), secrets) })),
    timeline: timelineOf(scene, secrets, run, deliveries),
  };
}
