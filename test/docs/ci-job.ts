import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import MarkdownIt from 'markdown-it';
import { expect } from 'vitest';
import { installInto, root, start } from '../e2e/built.ts';

// biome-ignore lint/suspicious/noExplicitAny: the tests read parsed YAML key by key, and a missing key fails them.
export type Yaml = any;
export type Env = Record<string, string>;

/** The CI's secrets and variables. */
export interface Store {
  RUNGATE_API_URL: string;
  RUNGATE_API_KEY: string;
}

/** A script as its CI runs it. */
export interface Script {
  script: string | null;
  /** The command with which the CI runs the script, which is also in `file`. */
  shell: (file: string, script: string) => string[];
  env: Env;
  /** The text of `.rungate.json` in the checkout, if there is one. */
  projectFile?: string;
}

export function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}
export function yaml(text: string): Yaml {
  return parseYaml(text);
}

/** Returns every code block of the page, named by the headings above it. */
export function snippets(page: string): { name: string; language: string; text: string }[] {
  const headings: string[] = [];
  return new MarkdownIt().parse(read(page), {}).flatMap((token, index, all) => {
    if (token.type === 'heading_open') {
      const level = Number(token.tag.slice(1)) - 2;
      if (level >= 0) headings.splice(level, headings.length, all[index + 1]?.content ?? '');
    }
    if (token.type !== 'fence' && token.type !== 'code_block') return [];
    return [{ name: headings.join(' / '), language: token.info, text: token.content }];
  });
}

/** The pages with pipelines, each with the heading before the names of its snippets, if they need one to be unique. */
const pipelinePages: Readonly<Record<string, string>> = {
  'docs/how-to/ci.md': '',
  'docs/how-to/github.md': 'GitHub Actions',
  'docs/how-to/gitlab.md': 'GitLab CI',
  'docs/how-to/jenkins.md': 'Jenkins',
  'docs/how-to/other-ci.md': '',
};

export const pathsOfPipelinePages = Object.keys(pipelinePages);

/** Returns every YAML and Groovy block of the pages with pipelines. */
const pipelineBlocks = () =>
  Object.entries(pipelinePages).flatMap(([page, title]) =>
    snippets(page)
      .filter(({ language }) => ['yaml', 'groovy'].includes(language))
      .map((snippet) => ({
        ...snippet,
        name: [title, snippet.name].filter((part) => part !== '').join(' / '),
      })),
  );

/** Whether a block runs the gate, by its command, the action or the template; others show a part without it. */
const runsGate = ({ text }: { text: string }) => /\brungate\b(?=@| gate\b)|\bextends: \.rungate\b/.test(text);

/** Returns the pipelines of the pages. */
export const pipelineSnippets = () => pipelineBlocks().filter(runsGate);

/** Returns the blocks that show a part of a pipeline without the gate. */
export const pipelineParts = () => pipelineBlocks().filter((block) => !runsGate(block));

/**
 * Reads a Jenkinsfile without a parser: brackets and quotes must balance. Returns a function that returns the only match of a
 * pattern in it.
 */
export function settingsOf(text: string): (pattern: RegExp) => string {
  const once = (pattern: RegExp): string => {
    const found = [...text.matchAll(new RegExp(pattern, 'g'))];
    expect(found, String(pattern)).toHaveLength(1);
    return String(found[0]?.[1]);
  };
  const code = text.replaceAll(/'[^'\n]*'/g, '');
  expect(code).not.toMatch(/['"]/);
  const open: string[] = [];
  for (const [bracket] of code.matchAll(/[{}()[\]]/g)) {
    if ('{(['.includes(bracket)) open.push(bracket);
    else expect(`${open.pop()}${bracket}`).toMatch(/^(\{\}|\(\)|\[\])$/);
  }
  expect(open).toEqual([]);
  return once;
}

/** Creates the folder of a job in which npx finds the built rungate as an installed package. */
export function workspace(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-docs-'));
  const command = installInto(folder);
  // The real npx takes half a second longer; only the tests of signals need it.
  const npx = join(folder, 'quick/npx');
  mkdirSync(dirname(npx));
  writeFileSync(npx, `#!/bin/sh\nshift 2\nexec '${command}' "$@"\n`);
  chmodSync(npx, 0o755);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  return folder;
}

/** Runs a step as its CI does, with only the CI's environment. */
export function run(step: Script, folder: string, npx: 'real' | 'quick' = 'quick') {
  const file = join(folder, 'step.sh');
  writeFileSync(file, `${step.script}\n`);
  if (step.projectFile !== undefined) writeFileSync(join(folder, '.rungate.json'), step.projectFile);
  const env: Env = {
    PATH: [
      ...(npx === 'quick' ? [join(folder, 'quick')] : []),
      dirname(process.execPath),
      process.env.PATH,
    ].join(':'),
    HOME: folder,
    TMPDIR: folder,
    RUNNER_TEMP: folder,
    CI: 'true',
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
    ...step.env,
  };
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return start('env', ['-i', ...variables, ...step.shell(file, String(step.script))], {}, folder);
}
