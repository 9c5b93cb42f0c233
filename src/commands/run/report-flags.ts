import { resolve } from 'node:path';
import type { Command } from 'commander';
import { Option } from 'commander';
import { UsageError } from '../../errors.ts';

/** The options that say which reports are written. */
export interface ReportFlags {
  junit?: string;
  report?: string[];
  ciReport?: boolean;
}

export type ReportFormat = 'json' | 'markdown' | 'dotenv' | 'teamcity';

const formatsByEnding: readonly (readonly [ending: string, format: ReportFormat])[] = [
  ['.md', 'markdown'],
  ['.env', 'dotenv'],
  ['.teamcity', 'teamcity'],
];

/** A file's ending says what is in it: JSON where it says nothing. */
export function reportFormat(path: string): ReportFormat {
  return formatsByEnding.find(([ending]) => path.toLowerCase().endsWith(ending))?.[1] ?? 'json';
}

function collect(value: string, earlier: string[] | undefined): string[] {
  return [...(earlier ?? []), value];
}

export function addReportFlags(command: Command): Command {
  return command
    .optionsGroup('Reports:')
    .option('--junit <file>', 'write the result as JUnit XML, a case per run')
    .option(
      '--report <file>',
      'write it as JSON; as .md, .env or .teamcity by that ending (repeatable)',
      collect,
    )
    .addOption(new Option('--ci-report').hideHelp())
    .option('--no-ci-report', 'tell the CI nothing: no outputs, summary, annotations, variables');
}

/** Refuses, before anything is sent, what could not be written afterwards. */
export function checkReportFlags(flags: ReportFlags): void {
  const files = [...(flags.junit === undefined ? [] : [flags.junit]), ...(flags.report ?? [])];
  if (files.some((file) => file.trim() === '' || file === '-')) {
    throw new UsageError('a report needs a file: standard output has the result itself', {
      hint: 'write --report gate.json; for JSON on standard output, --json',
    });
  }
  const places = files.map((file) => resolve(file));
  if (new Set(places).size < places.length) {
    throw new UsageError('two reports have the same file: one would replace the other', {
      hint: 'give each a file of its own',
    });
  }
}
