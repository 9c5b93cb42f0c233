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
  retryCount,
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
  retries: {
    type: retryCount,
    about: 'The number of new runs to start, each only if the last one failed. Default 0.',
  },
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
