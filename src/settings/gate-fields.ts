import type { PlainName } from './names.ts';
import { flag, nameList, text, type ValueType } from './value-types.ts';

/** The settings that a gate may have; those of the file's top level are their defaults. */
export const gateSettings = [
  'project',
  'process',
  'tags',
  'environment',
  'strict',
  'on',
  'interval',
  'maxAttempts',
  'timeout',
  'retries',
] as const satisfies readonly PlainName[];

/** The build information of a run: the options of `run trigger` that are not settings. */
export const factNames = ['repository', 'ref', 'commitSha', 'event', 'externalUrl'] as const;
export type GateFacts = { readonly [Fact in (typeof factNames)[number]]?: string | undefined };

interface OwnField {
  readonly type: ValueType<unknown>;
  readonly about: string;
}

/** The fields that only a gate has. */
export const ownFields: Readonly<Record<string, OwnField>> = {
  needs: {
    type: nameList,
    about: 'The gates that must pass, or pass with a warning, before this one starts.',
  },
  advisory: { type: flag, about: 'Never fail because of this gate: it can warn at most.' },
  repository: { type: text, about: 'The repository. Defaults to that of the CI or of git.' },
  ref: { type: text, about: 'The branch or ref. Defaults to that of the CI or of git.' },
  commitSha: { type: text, about: 'The commit hash. Defaults to that of the CI or of git.' },
  event: { type: text, about: 'The event that triggered the pipeline. Defaults to that of the CI.' },
  externalUrl: { type: text, about: 'The URL of the CI build. Defaults to that of the CI.' },
};
