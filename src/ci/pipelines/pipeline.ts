import type { Provider } from '../context.ts';
import type { Installation } from '../installation.ts';

/** What a pipeline's step has to say by itself, and what the project file says for it. */
export interface Plan {
  /** The flags that say what to run. Empty where `.rungate.json` says it: then the step checks the repository out. */
  readonly flags: string;
  /** The project file has the service's address, so that no variable needs to. */
  readonly addressInFile: boolean;
  readonly installation: Installation;
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
 * The gate, in two lines for a folded text of YAML. The first line is a strict gate by itself: a shell that takes the lines for
 * two commands, as with `|` instead of `>-`, must not turn the step green. `exec`, and nothing after it: a signal to the job's
 * shell arrives, and the exit code is the gate's.
 */
export function gateLines({ flags, installation }: Plan, reports: string, indent: string): string {
  const options = [flags, '--timeout 45m', reports].filter((one) => one !== '').join(' ');
  return `${indent}exec ${installation.start} run trigger --wait --strict\n${indent}${options}`;
}

/** The command that installs from the lockfile, with what the CI puts around it; empty when there is none. */
export function installLine({ installation: { install } }: Plan, before: string, after = ''): string {
  return line(install !== null, `${before}${install}${after}`);
}

/** A line where it is needed, with its end. */
export function line(needed: boolean, text: string): string {
  return needed ? `${text}\n` : '';
}
