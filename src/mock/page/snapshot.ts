import { homeTenant } from '../data/sizes.ts';
import type { Delivery, Webhook } from '../data/webhooks.ts';
import type { RecordedRequest } from '../exchange.ts';
import type { State } from '../state.ts';
import { secretsOf, shownLine, shownUrl } from './mask.ts';
import { deliveryRow, faultRow, requestRow, runRow } from './rows.ts';
import { concerns, findRun, runPage, tellsOf } from './run-page.ts';
import type { Scene } from './scene.ts';

/** How many of each are shown: a page is for looking at what happens now. */
const most = { runs: 50, deliveries: 50, requests: 100 };

type Sent = readonly [Webhook, Delivery];

export function webhooksOf(state: State): readonly Webhook[] {
  return [...state.account(homeTenant).webhooks.values()];
}

/** What was sent since the page's time began, the newest first: the data set has older ones, which never were. */
function sentSince({ state, openedAt }: Scene): Sent[] {
  return webhooksOf(state)
    .flatMap((webhook) => [...webhook.deliveries.values()].map((delivery): Sent => [webhook, delivery]))
    .filter(([, { lastAttemptAt }]) => Date.parse(lastAttemptAt) >= openedAt)
    .reverse()
    .toSorted(([, a], [, b]) => b.createdAt.localeCompare(a.createdAt));
}

function happened(
  scene: Scene,
  secrets: readonly string[],
  sent: readonly Sent[],
  came: readonly RecordedRequest[],
) {
  // Those that were not sent are the more, and must not push the others out.
  const some = (wasSent: boolean) =>
    sent.filter(([, { status }]) => (status !== 'not_sent') === wasSent).slice(0, most.deliveries);
  const kept = new Set([...some(true), ...some(false)]);
  return {
    deliveries: sent
      .filter((one) => kept.has(one))
      .map(([webhook, one]) => deliveryRow(webhook, one, secrets)),
    requests: came
      .slice(-most.requests)
      .reverse()
      .map((one) => requestRow(scene, secrets, one)),
  };
}

/** All that the page shows. Everything from outside is one harmless line, with no secret in it. */
export function overview(scene: Scene) {
  const { state, faults, requests, tenantSecret } = scene;
  const secrets = secretsOf(state, tenantSecret);
  return {
    runs: [...state.runs.values()]
      .filter(({ tenant }) => tenant === homeTenant)
      .slice(-most.runs)
      .reverse()
      .map((run) => runRow(scene, secrets, run)),
    // The newest first: the one that somebody has just registered is the one to try.
    webhooks: webhooksOf(state)
      .toReversed()
      .map(({ id, url, projectId }) => ({
        key: id,
        label: `${shownUrl(url, secrets)} (${projectId === null ? 'global' : shownLine(projectId, secrets)})`,
      })),
    faults: faults.entries.map(({ id, fault }) => faultRow(id, fault)),
    ...happened(scene, secrets, sentSince(scene), requests),
  };
}

/** One run and what concerned it; `run` is null where there is none of that id. */
export function oneRun(scene: Scene, runId: string) {
  const run = findRun(scene, runId);
  if (run === undefined) return { run: null };
  const secrets = secretsOf(scene.state, scene.tenantSecret);
  const sent = sentSince(scene).filter(([, delivery]) => tellsOf(run, delivery));
  const came = scene.requests.filter((request) => concerns(scene, run, request));
  return { run: runPage(scene, secrets, run, sent), ...happened(scene, secrets, sent, came) };
}
