import { exceptForks } from './pipelines.ts';

/** A condition in a GitHub workflow that can skip a gate. GitHub counts a skipped job as success, even where it is required. */
export interface SkippedGate {
  readonly job: string;
  readonly condition: string;
  /** It skips only pull requests from forks, and the workflow also runs in a merge queue. */
  readonly leftToQueue: boolean;
}

type Lines = readonly string[];

const isItem = (line = '') => /^\s*- /.test(line);

/** Splits the lines of a YAML mapping or list into its entries. The items of a list may be as far left as its key. */
function blocksOf(lines: Lines): Lines[] {
  const indent = Math.min(...lines.map((line) => line.search(/\S/)));
  const begins = (line: string) => line.search(/\S/) === indent && isItem(line) === isItem(lines[0]);
  const starts = lines.flatMap((line, at) => (begins(line) ? [at] : []));
  return starts.map((start, at) => lines.slice(start, starts[at + 1]));
}

function blockOf(key: string, lines: Lines): Lines {
  return (
    blocksOf(lines).find(([first = '']) => first.trim().replaceAll(/['"]/g, '').startsWith(`${key}:`)) ?? []
  );
}

/** Returns the condition of a job or step that can be false while everything before succeeds; null if there is none. */
function conditionOf(lines: Lines): string | null {
  const text = blockOf('if', lines).join(' ').trim();
  const condition = text
    .replace(/^if:\s*([>|][+-]?\s)?/, '')
    .replace(/^(['"])(.*)\1$/, '$2')
    .replace(/^\$\{\{(.*)\}\}$/, '$1')
    .replace(/\s+/g, ' ')
    .trim();
  return /^(|always\(\)|success\(\)|! ?cancelled\(\))$/.test(condition) ? null : condition;
}

const runsGate = (lines: Lines) =>
  lines.some((line) => /\brungate\b/.test(line) && /\buses:| (?:gate\b|run [a-z])/.test(line));

function stepsOf(job: Lines): Lines[] {
  const [, ...items] = blockOf('steps', job);
  return blocksOf(items).map(([first = '', ...more]) => [first.replace('-', ' '), ...more]);
}

/** Returns the conditions that can skip a gate of a workflow in a pull request. */
export function skippedGates(workflow: string): SkippedGate[] {
  const lines = workflow.split(/\r?\n/).filter((line) => !/^\s*(#|$)/.test(line));
  const on = blockOf('on', lines).join('\n');
  const [, ...jobs] = blockOf('jobs', lines);
  if (!/\bpull_request/.test(on)) return [];
  return blocksOf(jobs).flatMap(([name = '', ...job]) => {
    if (!runsGate(job)) return [];
    const conditions = [job, ...stepsOf(job).filter(runsGate)].map(conditionOf);
    return conditions.flatMap((condition) =>
      condition === null
        ? []
        : {
            job: name.trim().replace(/:.*/, ''),
            condition,
            leftToQueue: condition === exceptForks && /\bmerge_group\b/.test(on),
          },
    );
  });
}
