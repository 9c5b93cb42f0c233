import type { NameOf } from '../errors.ts';
import { docsPage } from '../repository.ts';
import { flagName, type OptionId, type OptionRow, rowOf, rows } from './table.ts';

/** Phrases about options: text, or a function of the value in it. */
type Phrases = Readonly<Record<string, string | ((value: string) => string)>>;

const credentials = `to get one, see ${docsPage('docs/how-to/keys.md')}`;

const inCommands: Phrases = {
  // The beginning of a message about a call. On the command line, the command is known.
  call: '',
  query: (key) => `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
  trust: '--ca-file or NODE_EXTRA_CA_CERTS',
  githubApi: 'GITHUB_API_URL',
  'give.key': `set RUNGATE_API_KEY to an API key of the service, or RUNGATE_API_KEY_FILE to the file with the key, or save it: rungate login; ${credentials}`,
  'give.bearer': `set RUNGATE_TOKEN to the bearer token of a user session, or RUNGATE_TOKEN_FILE to the file with the token, or save it: rungate login --token; ${credentials}`,
  'give.either': `set RUNGATE_TOKEN or RUNGATE_API_KEY, or one of these with _FILE to the path of a file, or save one: rungate login; ${credentials}`,
  credentials,
  look: 'to see the response, add --verbose, or read error.body of --json',
  unchecked: (target) =>
    `to read it without the check: rungate api GET ${/^[\w/.%~-]+$/.test(target) ? target : `"${target}"`}`,
};

/** The library does not read the environment, so its errors name no variables. */
const inLibrary: Phrases = {
  call: (name) => `${name}: `,
  query: (key) => `query key ${key}`,
  trust: 'caPem or NODE_EXTRA_CA_CERTS',
  deployedHeaderFile: 'deployed.headers',
  certFile: 'certPem',
  keyFile: 'keyPem',
  environment: 'trigger.environmentKey',
  'give.key': 'pass an API key of the service as apiKey; an unset environment variable is undefined',
  'give.bearer':
    'pass the bearer token of a user session as token; an unset environment variable is undefined',
  'give.either': 'pass token or apiKey; an unset environment variable is undefined',
  credentials,
  look: "the error's body contains the response",
  unchecked: 'the option check: false returns it without the check',
};

const namesWith =
  (phrases: Phrases, rowName: (row: OptionRow) => string | undefined): NameOf =>
  (id, value = '') => {
    const phrase = phrases[id];
    if (phrase !== undefined) return typeof phrase === 'string' ? phrase : phrase(value);
    return (id in rows && rowName(rowOf(id as OptionId))) || id;
  };

/** Names options as on the command line: the variable, or else the option. */
export const nameInCommands = namesWith(inCommands, (row) => row.env ?? flagName(row));

export const nameInLibrary = namesWith(
  inLibrary,
  ({ library, type }) => library && (type.kind === 'switch' ? `${library}: true` : library),
);
