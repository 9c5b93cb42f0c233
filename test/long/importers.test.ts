import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Build, builds, runBuild, type Shown } from '../commands/gate/gates-builds.ts';
import { root, start } from '../e2e/built.ts';

const home = join(root, 'test/importers');
const files = new Map<string, string>();
let folder: string;
beforeAll(async () => {
  if (!existsSync(join(home, 'node_modules/xunit-viewer'))) {
    const installed = await start('npm', ['ci', '--no-audit', '--no-fund'], {}, home).ended;
    if (installed.code !== 0) throw new Error(installed.err);
  }
  folder = mkdtempSync(join(tmpdir(), 'rungate-importers-'));
  let seed = 0;
  for (const [name, build] of Object.entries(builds)) {
    seed += 1;
    const file = join(folder, `${seed}.xml`);
    writeFileSync(file, (await runBuild(build, seed)).junit);
    files.set(name, file);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Imports a module of a program in `test/importers`, which the type checker does not know. */
const imported = (path: string) => import(pathToFileURL(join(home, 'node_modules', path)).href);

/** A case as a program shows it: the names by which it finds the case in an earlier build, and the status. */
interface Case {
  names: (string | undefined)[];
  status: string;
  retries?: number;
}

interface Importer {
  /** Reads the cases of a JUnit file, in the order of the gates. */
  read(file: string): Promise<Case[]>;
  /** Returns the status of a case as the program calls it. */
  statusOf(shown: Shown): string;
  showsRetries: boolean;
}

const importers: Readonly<Record<string, Importer>> = {
  'Allure Report': {
    async read(file) {
      const { junitXml } = await imported('@allurereport/reader/dist/index.js');
      const { BufferResultFile } = await imported('@allurereport/reader-api/dist/index.js');
      interface AllureResult {
        fullName: string;
        status: string;
        labels: { name: string; value: string }[];
      }
      const cases: Case[] = [];
      const visitor = {
        async visitTestResult({ fullName, status, labels }: AllureResult) {
          const suite = labels.find(({ name }) => name === 'suite');
          cases.push({ names: [suite?.value, fullName], status });
        },
        async visitAttachmentFile() {},
      };
      await junitXml.read(visitor, new BufferResultFile(readFileSync(file), 'junit.xml'));
      return cases;
    },
    statusOf: ({ result }) => result,
    showsRetries: false,
  },
  CTRF: {
    async read(file) {
      const { convertJUnitToCTRFReport } = await imported('junit-to-ctrf/dist/index.js');
      const { results } = await convertJUnitToCTRFReport(file);
      return results.tests.map(
        ({ suite, name, status, flaky, retryAttempts = [] }: Record<string, never[]>) => ({
          names: [suite, name],
          status: flaky ? `${status}, flaky` : status,
          retries: retryAttempts.length,
        }),
      );
    },
    statusOf: ({ result, retries = 0 }) =>
      result === 'passed' && retries > 0 ? 'passed, flaky' : result === 'broken' ? 'failed' : result,
    showsRetries: true,
  },
  'xunit-viewer': {
    async read(file) {
      const { default: parse } = await imported('xunit-viewer/src/cli/parse.js');
      interface Node {
        name: string;
        suites?: Record<string, Node>;
        tests?: Record<string, { classname: string; name: string; status: string }>;
      }
      const casesOf = ({ name: suite, suites = {}, tests = {} }: Node): Case[] => [
        ...Object.values(tests).map(({ classname, name, status }) => ({
          names: [suite, classname, name],
          status,
        })),
        ...Object.values(suites).flatMap(casesOf),
      ];
      const cases = casesOf(await parse(readFileSync(file, 'utf8')));
      // It sorts the suites by the time of their tests.
      return ['smoke', 'web', 'perf'].flatMap((gate) => cases.filter(({ names }) => names[0] === gate));
    },
    statusOf: ({ result, retries = 0 }) =>
      ({
        passed: retries > 0 ? 'flakyFailure' : 'passed',
        failed: 'failure',
        broken: 'error',
        skipped: 'skipped',
      })[result],
    showsRetries: false,
  },
};

describe.each(Object.entries(importers))('%s', (_program, { read, statusOf, showsRetries }) => {
  it.each(Object.entries(builds))('shows a build %s', async (name, { shown }: Build) => {
    const [cases, others] = [await read(files.get(name) ?? ''), await read(files.get('that passes') ?? '')];
    expect(cases.map(({ status, retries }) => (showsRetries ? [status, retries] : [status]))).toEqual(
      shown.map((one) => (showsRetries ? [statusOf(one), one.retries ?? 0] : [statusOf(one)])),
    );
    expect(cases).toHaveLength(3);
    // The history of a case needs the same names in every build.
    expect(cases.map(({ names }) => names)).toEqual(others.map(({ names }) => names));
  });
});
