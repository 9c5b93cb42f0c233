import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
// @ts-expect-error a script, which has no types
import { diagrams } from '../../scripts/diagrams.mjs';
// @ts-expect-error a build script, which has no types
import { addressOf, withRepository } from '../../scripts/repository.mjs';
import { everyCommand } from '../../src/cli/program.ts';
import { createJsonSchema, documentNames } from '../commands/json-schemas.ts';
import { pages, textOf } from '../docs/pages.ts';
import { root } from '../e2e/built.ts';
import { withInputs } from './action-inputs.ts';
import { ciDetectionPage } from './ci-detection.ts';
import { commandsPage } from './commands-page.ts';
import { exportsList } from './exports.ts';
import { libraryOptions } from './library-options.ts';
import { withVersion } from './named-version.ts';
import { createOpenApi } from './openapi.ts';
import { resultTypes, serviceTypes } from './service-types.ts';
import { createSettingsSchema } from './settings-schema.ts';
import { withFaults, withSchemas, withSettings, withVectors } from './tables.ts';

/** Returns the next text of a file, from its current text. */
type Write = (current: string) => string | Promise<string>;
type Writer = readonly [path: string, write: Write];

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

/** Returns a writer of source code, as the formatter of the repository writes it. */
const code = (path: string, write: () => string): Writer => [
  path,
  () =>
    execFileSync('node_modules/.bin/biome', ['check', '--write', `--stdin-file-path=${path}`], {
      cwd: root,
      input: write(),
      encoding: 'utf8',
    }),
];

const manifest = JSON.parse(textOf('package.json'));
const drawn = Object.entries(diagrams as Record<string, string>);
const versioned = [...pages, 'templates/gitlab/rungate.yml'];

/** Each generated file with the function that writes it, or a part of it. The writers of one file run in this order. */
const writers: readonly Writer[] = [
  ['package.json', () => json(withRepository(manifest))],
  [
    'src/repository.ts',
    (text) => text.replace(/(?<=const repository: string = ')[^']*/, addressOf(manifest)),
  ],
  code('src/contract/service-types.ts', () => serviceTypes().types),
  code('src/client/service-client.ts', () => serviceTypes().client),
  code('src/gate/result-types.ts', resultTypes),
  code('src/options/library-options.ts', libraryOptions),
  ['action.yml', withInputs],
  ['fixtures/exports.txt', exportsList],
  ['docs/openapi.json', () => json(createOpenApi())],
  ['docs/rungate.schema.json', () => json(createSettingsSchema())],
  ...documentNames.map((name): Writer => [`docs/schemas/${name}.json`, () => json(createJsonSchema(name))]),
  ['docs/reference/commands.md', async () => commandsPage(await everyCommand())],
  ['docs/reference/output.md', withSchemas],
  ['docs/reference/mock.md', withFaults],
  ['docs/reference/settings.md', withSettings],
  ['docs/project/ci-detection.md', ciDetectionPage],
  ['docs/project/webhook-vectors.md', withVectors],
  ...drawn.map(([path, svg]): Writer => [path, () => svg]),
  ...versioned.map((path): Writer => [path, withVersion]),
];

// `npm run generate` runs this test with --update, which writes the files instead of comparing them.
it.each([...new Set(writers.map(([path]) => path))])('%s is up to date', async (path) => {
  let text = existsSync(join(root, path)) ? textOf(path) : '';
  for (const [name, write] of writers) if (name === path) text = await write(text);
  await expect(text, `${path} is stale: run npm run generate`).toMatchFileSnapshot(join(root, path));
});
