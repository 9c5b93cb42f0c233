import { type Api, type Endpoint, pathParams } from '../../contract/endpoint.ts';
import type { EndpointName } from '../../contract/index.ts';
import { type Field, isList, isOpen, schemaFields } from '../../contract/shape.ts';
import { type CommandSpec, command, type Named, type OptionSpec, repeatable, type Spec } from '../spec.ts';
import { fieldFlag, flagKey, kebab, openOptions } from './body-input.ts';
import { callEndpoint, commandOf } from './call-endpoint.ts';
import { namesEnvironment } from './environment-id.ts';

const environment = 'env_8za03c7w12h3';
const variable = 'var_nnxg8j5347s3';
const observation = 'shop obs_zvy1y1b55ppn';
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
  'observations.promoteToTicket': 'shop obs_60a1cp2x06bz',
  'observations.promoteToWiki': 'shop obs_8tb1x2zzcvyh',
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

function fieldOptions(field: Field): Named {
  const [outer] = field.path;
  const repeatable = field.type === 'strings' || undefined;
  const notes = [
    field.description,
    field.path.length > 1 ? `(in ${outer})` : '',
    repeatable ? '(repeatable)' : '',
  ];
  const help = notes.filter((note) => note !== '').join(' ');
  const completes = /environmentKey$/i.test(flagKey(field)) ? 'environments' : undefined;
  return {
    [`${fieldFlag(field)}${placeholders[field.type]}`]: { help, repeatable, completes },
    ...(field.type === 'boolean' && { [`--no-${kebab(flagKey(field))}`]: `do not ${help}` }),
  };
}

/** Returns what the help says of the command of an endpoint, derived or written by hand. */
export function describedEndpoint(id: string, { summary, auth, path, ...endpoint }: Endpoint) {
  const name = kebab(id.slice(id.lastIndexOf('.') + 1));
  const danger = endpoint.destructive ? ' This cannot be undone, and requires confirmation or --yes.' : '';
  const isEnvironment = namesEnvironment({ path });
  const places = pathParams(path).map((param, index): [string, OptionSpec] => [
    `<${param}>`,
    isEnvironment && index === 0
      ? { help: 'id or key of the environment', completes: 'environments' }
      : { help: '' },
  ]);
  return {
    name,
    summary: summary.charAt(0).toLowerCase() + summary.slice(1),
    description: `${summary}.${danger}\n${credentials[auth]}`,
    args: Object.fromEntries(places),
  };
}

const searchOptions: Named = {
  '--text-param <name>': 'query parameter for the text (default q)',
  '--query <name=value>': repeatable('additional query parameter (repeatable, even with the same name)'),
};

function optionsOf(endpoint: Endpoint, isSearch: boolean): Named {
  const query = endpoint.query === undefined ? [] : schemaFields(endpoint.query);
  const body = endpoint.body === undefined ? [] : schemaFields(endpoint.body);
  const fields = [...query, ...body].filter((field) => !(isSearch && flagKey(field) === 'q'));
  return {
    ...(isSearch && searchOptions),
    ...Object.assign({}, ...fields.map(fieldOptions)),
    ...(isList(endpoint) && { '--columns <names>': 'columns to show, such as id,name,baseUrl' }),
    ...(endpoint.paged && { '--all': 'read every page; with --json, one item per line (NDJSON)' }),
    ...(endpoint.multipart && { '--file <file>': 'file to attach' }),
    ...(endpoint.body !== undefined && isOpen(endpoint.body) && openOptions),
    ...(endpoint.destructive && { '-y, --yes': 'skip the confirmation' }),
  };
}

function derived(id: string, endpoint: Endpoint): CommandSpec {
  const isSearch = id === 'observations.search';
  const described = describedEndpoint(id, endpoint);
  const line = (endpointExamples as Readonly<Record<string, string | undefined>>)[id];
  return command({
    ...described,
    args: { ...described.args, ...(isSearch && { '[text]': 'text to search for' }) },
    options: optionsOf(endpoint, isSearch),
    examples: line === undefined ? [] : [`${commandOf(id)} ${line}`.trim()],
    run: (context, args, flags) => callEndpoint(context, id, endpoint, args, flags),
  });
}

const inner: Readonly<Record<string, string>> = {
  vars: 'manage the variables of an environment',
  deliveries: 'show and retry the deliveries of a webhook',
};

/** Returns the commands of endpoints: `env.vars.list` → `list` in the group `vars`. @param byHand those with their own options */
export function derive(api: Api, byHand: Readonly<Record<string, CommandSpec>> = {}): Spec[] {
  const groups = new Map<string, Spec[]>([['', []]]);
  for (const [id, endpoint] of Object.entries(api)) {
    const [, ...words] = id.split('.');
    const group = words.slice(0, -1).join(' ');
    let commands = groups.get(group);
    if (commands === undefined) {
      commands = [];
      groups.set(group, commands);
      groups.get('')?.push({ name: kebab(group), summary: inner[group] ?? '', commands });
    }
    commands.push(byHand[id] ?? derived(id, endpoint));
  }
  return groups.get('') ?? [];
}
