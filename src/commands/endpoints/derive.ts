import type { Command } from 'commander';
import { type Api, type Endpoint, pathParams } from '../../contract/endpoint.ts';
import type { EndpointName } from '../../contract/index.ts';
import { type Field, isList, isOpen, schemaFields } from '../../contract/shape.ts';
import { type Bind, examples, summarise } from '../binding.ts';
import { completes } from '../completion/completes.ts';
import { addGlobals, collect } from '../options.ts';
import { fieldFlag, flagKey, kebab } from './body-input.ts';
import { callEndpoint, type EndpointFlags } from './call-endpoint.ts';
import { namesEnvironment } from './environment-id.ts';

const environment = 'env_8za03c7w12h3';
const variable = 'var_nnxg8j5347s3';
const observation = 'shop obs_zvy1y1b55ppn';
const confirmed = 'shop obs_60a1cp2x06bz';
const webhook = 'wh_3abhx3vn1zef';
const delivery = 'dlv_k6t7dk4skqkn';

/**
 * The arguments in the example of each derived command. The ids are from the mock's data, so each line works with
 * `rungate mock exec --`, except for the id of the API key, because the mock has no key.
 */
const endpointExamples: Readonly<Partial<Record<EndpointName, string>>> = {
  'orders.list': '--json',
  'orders.get': 'ord_2d10vj481znk',
  'keys.delete': 'key_123 --yes',
  'env.overview': '--json',
  'env.list': '--all',
  'env.create': '--name New --key new --base-url https://new.example.com',
  'env.update': 'staging --version 9f2c1ab',
  'env.delete': `${environment} --yes`,
  'env.vars.list': environment,
  'env.vars.create': `${environment} --field name=LOCALE --field value=de`,
  'env.vars.update': `${environment} ${variable} --field value=off`,
  'env.vars.delete': `${environment} ${variable} --yes`,
  'observations.list': 'shop --status open --page-size 5',
  'observations.get': observation,
  'observations.search': 'shop "gift cards"',
  'observations.create': 'shop --field title="Cart forgets the voucher"',
  'observations.update': `${observation} --field title="Login page"`,
  'observations.attach': `${observation} --field note="see the log"`,
  'observations.confirm': observation,
  'observations.archive': observation,
  'observations.supersede': `${observation} --field reason=newer`,
  'observations.promoteToTicket': confirmed,
  'observations.promoteToWiki': confirmed,
  'webhooks.eventTypes': '',
  'webhooks.list': '--project-id shop',
  'webhooks.create': '--project-id shop --field url=https://a.example/hook',
  'webhooks.delete': `${webhook} --yes`,
  'webhooks.rotateSecret': `${webhook} --yes`,
  'webhooks.test': webhook,
  'webhooks.deliveries.list': webhook,
  'webhooks.deliveries.get': `${webhook} ${delivery}`,
  'webhooks.deliveries.retry': `${webhook} ${delivery}`,
};

const credentials: Readonly<Record<Endpoint['auth'], string>> = {
  bearer: 'Credential: a bearer token (RUNGATE_TOKEN).',
  jwt: 'Credential: the bearer token of a user session (RUNGATE_TOKEN); an API key cannot do this.',
  key: 'Credential: an API key (RUNGATE_API_KEY).',
  either: 'Credential: a bearer token (RUNGATE_TOKEN) or an API key (RUNGATE_API_KEY).',
};

const placeholders: Readonly<Record<Field['type'], string>> = {
  string: ' <text>',
  integer: ' <n>',
  number: ' <number>',
  boolean: '',
  strings: ' <text>',
  json: ' <json>',
};

function addField(command: Command, field: Field): void {
  const [outer] = field.path;
  const notes = [
    field.description,
    field.path.length > 1 ? `(in ${outer})` : '',
    field.type === 'strings' ? '(repeatable)' : '',
  ];
  const flags = `${fieldFlag(field)}${placeholders[field.type]}`;
  const description = notes.filter((note) => note !== '').join(' ');
  if (field.type === 'strings') command.option(flags, description, collect);
  else command.option(flags, description);
  if (/environmentKey$/i.test(flagKey(field))) {
    completes(command, fieldFlag(field), 'environments');
  }
  if (field.type === 'boolean') command.option(`--no-${kebab(flagKey(field))}`, `do not ${description}`);
}

/** Adds the summary and the arguments of an endpoint to a command, whether derived or written by hand. */
function describeEndpoint(command: Command, endpoint: Endpoint): Command {
  const danger = endpoint.destructive ? ' This cannot be undone; it needs a confirmation or --yes.' : '';
  command
    .summary(endpoint.summary.charAt(0).toLowerCase() + endpoint.summary.slice(1))
    .description(`${endpoint.summary}.${danger}\n${credentials[endpoint.auth]}`);
  for (const [index, name] of pathParams(endpoint.path).entries()) {
    const isEnvironment = index === 0 && namesEnvironment(endpoint);
    command.argument(`<${name}>`, isEnvironment ? 'id or key of the environment' : '');
    if (isEnvironment) completes(command, name, 'environments');
  }
  return command;
}

export function addBodyFlags(command: Command): Command {
  return command
    .option('--field <name=value>', 'field of the body, as text (repeatable)', collect)
    .option('--json-field <name=json>', 'field of the body, as JSON (repeatable)', collect)
    .option('--input <file>', 'JSON file with the body (- for standard input); options override its fields');
}

function addFlags(command: Command, name: string, endpoint: Endpoint): void {
  const query = endpoint.query === undefined ? [] : schemaFields(endpoint.query);
  const body = endpoint.body === undefined ? [] : schemaFields(endpoint.body);
  command.optionsGroup('Options:');
  const isSearch = name === 'observations.search';
  if (isSearch) {
    command
      .argument('[text]', 'text to search for')
      .option('--text-param <name>', 'query parameter for the text (default q)')
      .option('--query <name=value>', 'other query parameter (repeatable, even with the same name)', collect);
  }
  for (const field of query) if (!(isSearch && flagKey(field) === 'q')) addField(command, field);
  for (const field of body) addField(command, field);
  if (isList(endpoint)) command.option('--columns <names>', 'columns to show, such as id,name,baseUrl');
  if (endpoint.paged) command.option('--all', 'read every page; with --json one item per line (NDJSON)');
  if (endpoint.multipart) command.option('--file <file>', 'file to attach');
  if (endpoint.body !== undefined && isOpen(endpoint.body)) addBodyFlags(command);
  if (endpoint.destructive) command.option('-y, --yes', 'skip the confirmation');
}

type Custom = (command: Command, bind: Bind, endpoint: Endpoint) => void;

/** The description of a group within a group: `variables of an environment`. */
const inner: Readonly<Record<string, string>> = {
  vars: 'manage the variables of an environment',
  deliveries: 'show and retry the deliveries of a webhook',
};

function summaryOf(word: string, parent: Command): string {
  return inner[word] ?? `${word} of ${parent.name()}`;
}

/** Returns the group of a command, and creates it if needed: `env.vars.list` → `env vars`. */
function subgroup(group: Command, words: readonly string[]): Command {
  return words.reduce((parent, word) => {
    const child = parent.commands.find((command) => command.name() === kebab(word));
    if (child !== undefined) return child;
    const created = summarise(parent.command(kebab(word)), summaryOf(word, parent));
    return addGlobals(created).enablePositionalOptions();
  }, group);
}

/** @param custom commands with their own options */
export function deriveCommands(
  group: Command,
  bind: Bind,
  api: Api,
  custom: Readonly<Record<string, Custom>> = {},
): void {
  for (const [name, endpoint] of Object.entries(api)) {
    const words = name.split('.').slice(1);
    const leaf = words.pop() ?? name;
    const command = describeEndpoint(subgroup(group, words).command(kebab(leaf)), endpoint);
    const workflow = custom[name];
    if (workflow !== undefined) {
      workflow(command, bind, endpoint);
      continue;
    }
    addFlags(command, name, endpoint);
    const line = (endpointExamples as Readonly<Record<string, string | undefined>>)[name];
    if (line !== undefined) {
      examples(command, `rungate ${[...name.split('.').map(kebab), line].join(' ')}`.trim());
    }
    bind(command, {
      run: (context, args, flags: EndpointFlags) => callEndpoint(context, name, endpoint, args, flags),
    });
  }
}
