import type { PlainName, PlainValues } from './names.ts';
import {
  addressOf,
  count,
  duration,
  flag,
  headerName,
  oneOf,
  overrides,
  pointer,
  text,
  textList,
  type ValueType,
} from './value-types.ts';

export interface Entry<Value> {
  readonly type: ValueType<Value>;
  /** One line about the setting. */
  readonly about: string;
}

type Table = { readonly [Name in PlainName]: Entry<PlainValues[Name]> };

/** Every setting that a file may have. `.rungate.json`, profiles, `config set` and the JSON schema follow from this table. */
export const settingsTable: Table = {
  apiUrl: { type: addressOf('service', 'apiUrl'), about: 'Base URL of the service.' },
  project: { type: text, about: 'The slug of the project.' },
  process: { type: text, about: 'The slug of the process to run, unless tags are set.' },
  tags: {
    type: textList,
    about:
      'Run the processes with these tags, unless a process is set; the contract does not say whether one or all must match.',
  },
  environment: {
    type: text,
    about: "The key of the environment. Defaults to the project's default environment.",
  },
  strict: { type: flag, about: 'Also fail on a cancelled run. Recommended in pipelines.' },
  on: {
    type: overrides,
    about: 'The action for each verdict: pass, warn or fail. Overrides strict from the same source.',
  },
  interval: { type: duration, about: 'The time between status reads, unless the service requests another.' },
  maxAttempts: { type: count, about: 'The maximum number of status reads.' },
  timeout: { type: duration, about: 'The maximum time to wait. If set, maxAttempts has no default limit.' },
  fleetSize: { type: count, about: "The number of gates that share the service's rate limits." },
  format: { type: oneOf(['table', 'json', 'ndjson']), about: 'The output format of results.' },
  auth: { type: oneOf(['bearer', 'key']), about: 'The credential to send where the service accepts either.' },
  caFile: { type: text, about: 'A PEM file of additional certificate authorities to trust.' },
  'hub.url': {
    type: addressOf('hub', 'hub.url'),
    about: 'Base URL of the hub that schedules the requests of the gates.',
  },
  'run.idPointer': { type: pointer, about: "The JSON pointer to a new run's id in the response." },
  'env.providerModelField': { type: text, about: "The service's name for the field providerModel." },
  'deployed.url': {
    type: addressOf('page', 'deployed.url'),
    about:
      'URL of a page that shows the version of the deployed build. The gate fails unless it is the expected one.',
  },
  'deployed.pointer': {
    type: pointer,
    about: 'The JSON pointer to the version in that page. Defaults to the whole body.',
  },
  'deployed.is': { type: text, about: 'The expected version. Defaults to the commit of the CI job.' },
  'deployed.timeout': {
    type: duration,
    about: 'The maximum time to wait for the expected version before the run is created.',
  },
  'webhook.timestampHeader': {
    type: headerName,
    about: "The service's name for the header X-Service-Timestamp.",
  },
  'webhook.signatureHeader': {
    type: headerName,
    about: "The service's name for the header X-Service-Signature.",
  },
};

export const plainNames = Object.keys(settingsTable) as PlainName[];

export function isPlainName(name: string): name is PlainName {
  return Object.hasOwn(settingsTable, name);
}

/** Reads one value. @throws InvalidValue */
export function readValue<Name extends PlainName>(name: Name, json: unknown): PlainValues[Name] {
  const entry: Entry<PlainValues[Name]> = settingsTable[name];
  return entry.type.read(json);
}

/** Turns a command-line argument into the JSON of a file. */
export function valueFromArgument(name: PlainName, text: string): unknown {
  const { json } = settingsTable[name].type;
  return json === undefined ? text : json(text);
}

/** Turns a value into the JSON of a file. */
export function writeValue<Name extends PlainName>(name: Name, value: PlainValues[Name]): unknown {
  const entry: Entry<PlainValues[Name]> = settingsTable[name];
  return entry.type.write === undefined ? value : entry.type.write(value);
}

type Schema = Record<string, unknown>;

function described(name: (typeof plainNames)[number]): Schema {
  const { type, about } = settingsTable[name];
  return { description: about, ...type.schema };
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

/** Returns the JSON schema of `.rungate.json`, in the draft that editors support best. */
export function createSettingsSchema(): Schema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: '.rungate.json',
    description:
      'Settings of rungate for a project. It must not contain secrets: set those in the environment.',
    ...objectOf({
      $schema: { type: 'string' },
      branches: {
        description:
          'Settings for a branch or a tag, by its name or by a pattern with *. The exact name takes precedence, then the pattern with the most characters besides *. A lone * matches every other ref.',
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
