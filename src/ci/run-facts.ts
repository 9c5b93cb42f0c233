import type { CiContext } from './context.ts';

/** What a create request says of the pipeline that asks for it (interface, section 2.5); null where nothing is known. */
export function runFacts(ci: CiContext) {
  const { repository, ref, commitSha } = ci;
  return { repository, ref, commitSha, event: ci.rawEvent ?? ci.event, externalUrl: ci.buildUrl };
}
