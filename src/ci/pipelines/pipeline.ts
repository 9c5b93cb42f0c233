import type { Provider } from '../context.ts';

/** What a pipeline's step has to say by itself, and what the project file says for it. */
export interface Plan {
  /** The flags that say what to run. Empty where `.rungate.json` says it: then the step checks the repository out. */
  readonly flags: string;
  /** The project file has the service's address, so that no variable needs to. */
  readonly addressInFile: boolean;
}

/** What the pages and `rungate init` know of one CI. */
export interface Pipeline {
  readonly provider: Provider;
  readonly title: string;
  /** Where the CI looks for its pipelines, from the repository's root. */
  readonly file: string;
  /** The file is one of many, and so can be added; the one file of all pipelines is edited by hand. */
  readonly added: boolean;
  /** Files and folders that show that a repository uses this CI. */
  readonly signs: readonly string[];
  /** The host of a remote that brings this CI along; null where none does. */
  readonly host: RegExp | null;
  /** Where the API key goes, and where the address. */
  readonly keyPlace: string;
  readonly addressPlace: string;
  text(plan: Plan): string;
}

/**
 * The gate, in two lines for a folded text of YAML. `exec`, and nothing after it: a signal to the job's shell arrives, and
 * the exit code is the gate's.
 */
export function gateLines({ flags }: Plan, reports: string, indent: string): string {
  const first = `exec npx --yes rungate run trigger${flags === '' ? '' : ` ${flags}`}`;
  return `${indent}${first}\n${indent}--wait --strict --timeout 45m ${reports}`;
}

/** A line where it is needed, with its end. */
export function line(needed: boolean, text: string): string {
  return needed ? `${text}\n` : '';
}
