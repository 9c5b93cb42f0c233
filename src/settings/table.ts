import type { PlainName, PlainValues } from './names.ts';
import {
  address,
  count,
  duration,
  flag,
  headerName,
  type Kind,
  overrides,
  pointer,
  text,
  texts,
  wordOf,
} from './value-types.ts';

export interface Entry<Value> {
  readonly kind: Kind<Value>;
  /** What the setting is for, in a line. */
  readonly about: string;
}

type Table = { readonly [Name in PlainName]: Entry<PlainValues[Name]> };

/** Every setting that a file may give: `.rungate.json`, profiles, `config set` and the JSON schema follow from it. */
export const settingsTable: Table = {
  apiUrl: { kind: address, about: 'Base URL of the service.' },
  project: { kind: text, about: 'The project, by its slug.' },
  process: { kind: text, about: 'The process to run, by its slug; or else tags.' },
  tags: {
    kind: texts,
    about:
      'Run the processes with these tags (the contract does not say whether one or all must match); or else a process.',
  },
  environment: { kind: text, about: "The environment, by its key; without it the project's own." },
  strict: { kind: flag, about: 'Fail on a cancelled run too; every pipeline should.' },
  on: { kind: overrides, about: 'What the gate does about a verdict; beats strict of the same source.' },
  interval: { kind: duration, about: 'Between polls, unless the service says otherwise.' },
  maxAttempts: { kind: count, about: 'Status reads at most.' },
  timeout: { kind: duration, about: 'How long to wait at most; lifts the default of maxAttempts.' },
  fleetSize: { kind: count, about: "How many gates share the service's limits." },
  format: { kind: wordOf(['table', 'json', 'ndjson']), about: 'How results are printed.' },
  auth: { kind: wordOf(['bearer', 'key']), about: 'The credential to use where the service takes either.' },
  caFile: { kind: text, about: 'Trust the certificate authorities in this PEM file too.' },
  'run.idPointer': { kind: pointer, about: "Where a new run's id stands in the reply, as a JSON pointer." },
  'env.providerModelField': { kind: text, about: "The service's own name of the field providerModel." },
  'webhook.timestampHeader': { kind: headerName, about: "The service's name of X-Service-Timestamp." },
  'webhook.signatureHeader': { kind: headerName, about: "The service's name of X-Service-Signature." },
};

export const plainNames = Object.keys(settingsTable) as PlainName[];

export function isPlainName(name: string): name is PlainName {
  return Object.hasOwn(settingsTable, name);
}

/** Reads one value. @throws UnfitValue */
export function readValue<Name extends PlainName>(name: Name, json: unknown): PlainValues[Name] {
  const entry: Entry<PlainValues[Name]> = settingsTable[name];
  return entry.kind.read(json);
}

/** What a file would have, from one word of the command line. */
export function readWord(name: PlainName, text: string): unknown {
  const { json } = settingsTable[name].kind;
  return json === undefined ? text : json(text);
}

/** A value as a file has it. */
export function writeValue<Name extends PlainName>(name: Name, value: PlainValues[Name]): unknown {
  const entry: Entry<PlainValues[Name]> = settingsTable[name];
  return entry.kind.write === undefined ? value : entry.kind.write(value);
}

type Schema = Record<string, unknown>;

function described(name: (typeof plainNames)[number]): Schema {
  const { kind, about } = settingsTable[name];
  return { description: about, ...kind.schema };
}

/** `webhook.timestampHeader` may also be written as `{ "webhook": { "timestampHeader": … } }`. */
function groupSchemas(): Record<string, Schema> {
  const groups: Record<string, { properties: Record<string, Schema> } & Schema> = {};
  for (const name of plainNames) {
    const [group = '', part] = name.split('.');
    if (part === undefined) continue;
    groups[group] ??= { type: 'object', additionalProperties: false, properties: {} };
    groups[group].properties[part] = { $ref: `#/definitions/${name}` };
  }
  return groups;
}

function objectOf(more: Record<string, Schema> = {}): Schema {
  const names = Object.keys(groupSchemas());
  return {
    type: 'object',
    additionalProperties: false,
    not: { required: ['process', 'tags'] },
    properties: {
      ...more,
      ...Object.fromEntries(
        [...plainNames, ...names].map((name) => [name, { $ref: `#/definitions/${name}` }]),
      ),
    },
  };
}

/** The JSON schema of `.rungate.json`, in the draft that editors know best. */
export function createSettingsSchema(): Schema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: '.rungate.json',
    description: 'Settings of rungate for a project. No secrets: those go into the environment.',
    ...objectOf({
      $schema: { type: 'string' },
      branches: {
        description:
          'Settings for a branch or a tag, by its name or by a pattern with *. The exact name comes first, then the pattern with the most characters besides *; * alone is everything else.',
        type: 'object',
        propertyNames: { pattern: '\\S' },
        additionalProperties: { $ref: '#/definitions/branch' },
      },
    }),
    definitions: {
      action: { enum: ['pass', 'warn', 'fail'] },
      branch: objectOf(),
      ...Object.fromEntries(plainNames.map((name) => [name, described(name)])),
      ...groupSchemas(),
    },
  };
}
