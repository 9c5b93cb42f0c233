import type { Exchange } from '../../client/caller.ts';
import { hasNext, type Page, type PageQuery, readPage } from '../../client/list.ts';
import { type Api, type Endpoint, pathParams, type Schema } from '../../contract/endpoint.ts';
import { api } from '../../contract/index.ts';
import { type Field, isList, itemSchema, schemaFields } from '../../contract/shape.ts';
import { HttpError, UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { itemTexts } from '../../json/text.ts';
import { wantsJson } from '../../output/json.ts';
import type { Context } from '../context.ts';
import { quotedCommand } from '../shell-quoted.ts';
import {
  attachmentOf,
  fieldFlag,
  fieldValue,
  flagKey,
  type GivenField,
  kebab,
  type OpenFlags,
  requestBody,
  splitPair,
} from './body-input.ts';
import { namesEnvironment, useEnvironmentId } from './environment-id.ts';
import { listAll } from './list-all.ts';
import {
  chooseColumns,
  emptyText,
  fieldTable,
  givenColumns,
  itemTable,
  tellColumns,
  tellLoose,
  warnOfHtml,
  warnOfMismatches,
} from './response-table.ts';

export interface EndpointFlags extends OpenFlags {
  all?: boolean;
  columns?: string;
  yes?: boolean;
  file?: string;
  textParam?: string;
  query?: string[];
  [flag: string]: unknown;
}

/** Returns the option that sends `null` for a field: `--json-field version=null`. */
function clearing({ path: [name, ...inner] }: Field): string {
  const value = inner.reduceRight((json, key) => `{"${key}":${json}}`, 'null');
  return value === 'null' ? `--json-field ${name}=null` : `--json-field '${name}=${value}'`;
}

/** Returns the fields given as options. @throws UsageError if one is empty, as with an unset variable */
function givenOf(schema: Schema, flags: EndpointFlags, isBody: boolean): GivenField[] {
  const given = schemaFields(schema)
    .map((field) => ({ option: fieldFlag(field), field, given: flags[flagKey(field)] }))
    .filter((field) => field.given !== undefined);
  const isEmpty = (value: unknown) => typeof value === 'string' && value.trim() === '';
  const empty = given.find((field) => [field.given].flat().some(isEmpty));
  if (empty === undefined) return given;
  const hint = isBody
    ? `check the variable that the value comes from; to clear the field, use ${clearing(empty.field)}`
    : `give ${empty.option} a value, or leave it out`;
  throw new UsageError(`${empty.option} is empty`, { hint });
}

function queryOf(
  endpoint: Endpoint,
  text: unknown,
  flags: EndpointFlags,
): Record<string, unknown> | undefined {
  if (endpoint.query === undefined) return undefined;
  const shown = givenOf(endpoint.query, { ...flags, q: undefined }, false);
  const query: Record<string, unknown> = Object.fromEntries(
    shown.map(({ option, field, given }) => [field.path[0], fieldValue(option, field, given)]),
  );
  const textParam = flags.textParam ?? 'q';
  if (typeof text === 'string' && Object.hasOwn(query, textParam)) {
    throw new UsageError(`--text-param ${textParam} is already the parameter of another option`, {
      hint: 'choose another parameter for the text',
    });
  }
  if (typeof text === 'string') query[textParam] = text;
  const others = new Map<string, string[]>();
  for (const pair of flags.query ?? []) {
    const [name, value] = splitPair('--query', pair);
    others.set(name, [...(others.get(name) ?? []), value]);
  }
  const twice = [...others.keys()].find((name) => Object.hasOwn(query, name));
  if (twice !== undefined) {
    const flag = shown.find(({ field }) => field.path[0] === twice)?.option ?? 'the text to search for';
    throw new UsageError(`--query ${twice}=… and ${flag} are the same parameter`, {
      hint: 'give one of them',
    });
  }
  const fields = schemaFields(endpoint.query);
  // A list is sent as one parameter for each value.
  for (const [name, texts] of others) {
    const field = fields.find(({ path }) => path[0] === name);
    const values = field ? texts.map((text) => fieldValue(`--query ${name}`, field, text)) : texts;
    query[name] = values.length === 1 ? values[0] : values;
  }
  return query;
}

export async function callEndpoint(
  context: Context,
  name: string,
  endpoint: Endpoint,
  args: readonly unknown[],
  flags: EndpointFlags,
): Promise<number> {
  const names = pathParams(endpoint.path);
  const params = Object.fromEntries(names.map((param, index) => [param, String(args[index])]));
  const columns = givenColumns(context.output, flags.columns);
  const query = queryOf(endpoint, args[names.length], flags);
  const shown = endpoint.body === undefined ? [] : givenOf(endpoint.body, flags, true);
  const json = await requestBody(context.io, flags, shown);
  const attachment = flags.file === undefined ? undefined : attachmentOf(context.io, flags.file);
  if (attachment !== undefined && json !== undefined) {
    throw new UsageError('a file and fields cannot be combined', { hint: 'give --file, or the fields' });
  }
  const body = attachment ?? json;
  if (body === undefined && endpoint.body !== undefined && endpoint.bodyOptional !== true) {
    throw new UsageError('nothing to send: no field is given', {
      hint: 'give fields as options, with --field, or with --input',
    });
  }
  const caller = await context.connect();
  // As the user names it, before a key becomes an id.
  const act = endpoint.destructive?.replace(/\{(\w+)\}/g, (_, param: string) => params[param] ?? '');
  if (act !== undefined && !(await confirm(context, act, flags.yes === true))) {
    await context.output.alert('nothing was done');
    return exitCodes.failed;
  }
  const hint = namesEnvironment(endpoint) ? await useEnvironmentId(caller, params) : undefined;
  if (flags.all === true) {
    return listAll(context, name, endpoint, query === undefined ? { params } : { params, query }, columns);
  }
  if (endpoint.body !== undefined && json !== undefined) await tellLoose(context.output, endpoint.body, json);
  const sent = caller.exchange(name, endpoint, { params, query, body: attachment, json });
  const response = await sent.catch((error) => {
    throw hinted(error, name, endpoint, args, hint);
  });
  const done = act?.replace(/^\w+e/, '$&d');
  await printResponse(context, name, endpoint, { response, columns, asked: query ?? {}, done });
  return exitCodes.ok;
}

/** Returns a path without the names of its parameters, and without the ending of the orders. */
const shapeOf = (path: string) => path.replace(/\{\w+\}/g, '{}').replace(/\.json$/, '');

/** Returns the command that reads this path, with the arguments for it; undefined if there is none. */
function readerOf(path: string, args: readonly unknown[]): string | undefined {
  const reader = Object.entries(api as Api).find(
    ([, { method, path: other }]) => method === 'GET' && shapeOf(other) === shapeOf(path),
  );
  if (reader === undefined) return undefined;
  const shown = pathParams(path).map((param, index) => {
    const given = String(args[index]);
    return /^\w[\w.-]{0,59}$/.test(given) ? given : `<${param}>`;
  });
  return [commandOf(reader[0]), ...shown].join(' ');
}

const commandOf = (name: string) => ['rungate', ...name.split('.').map(kebab)].join(' ');

/**
 * Returns the error of an endpoint with a command that shows more: the ids for 404, the item for a conflict, otherwise the help.
 * @param hint the remedy if the service did not find the environment
 */
function hinted(
  error: unknown,
  name: string,
  { path }: Endpoint,
  args: readonly unknown[],
  hint: string | undefined,
): unknown {
  if (!(error instanceof HttpError)) return error;
  const [, parent = '', param = ''] = /^(.*)\/(\{\w+\})/.exec(path) ?? [];
  if (error.status === 404) {
    const list = parent === '' ? undefined : readerOf(parent, args);
    const ids = list === undefined ? [] : [`${list} shows the ids`];
    error.hint = hint ?? [error.hint, ...ids].filter(Boolean).join('; ');
  }
  const item = error.status === 409 && parent !== '' ? readerOf(`${parent}/${param}`, args) : undefined;
  error.hint ??= item === undefined ? `see ${commandOf(name)} --help` : `${item} shows its state`;
  return error;
}

interface Printed {
  response: Exchange;
  columns: readonly string[] | undefined;
  asked: PageQuery;
  /** The sentence about something that was deleted or replaced. */
  done: string | undefined;
}

async function printResponse(
  context: Context,
  name: string,
  endpoint: Endpoint,
  { response, columns, asked, done }: Printed,
): Promise<void> {
  const { output } = context;
  if (response.text === '') {
    if (wantsJson(output)) await output.json('null');
    const text = endpoint.method === 'GET' ? 'the response has no body' : (done ?? 'done');
    return output.note(endpoint.list ? emptyText(asked.page) : output.excerpt(text));
  }
  if (await warnOfHtml(context, response)) return;
  const item = itemSchema(endpoint.response);
  const page = isList(endpoint) || Array.isArray(response.value) ? readPage(response.value) : undefined;
  if (page === undefined) {
    await output.response(response.text, fieldTable(response.text));
    await warnOfMismatches(output, response);
    if (done !== undefined) await output.note(output.excerpt(done));
    const isNewSecret = /^webhooks\.(create|rotateSecret)$/.test(name);
    if (isNewSecret && Object(response.value).secret !== undefined)
      await output.note('store the secret for verify and listen: rungate login --webhook-secret');
    return;
  }
  const items = itemTexts(response.text, page);
  const width = output.format === 'table' ? output.columns : Number.POSITIVE_INFINITY;
  const chosen = chooseColumns(items, item === undefined ? [] : schemaFields(item), columns, width);
  await output.response(response.text, itemTable(items, chosen.shown, output.redact));
  await warnOfMismatches(output, response);
  if (items.length === 0) await output.note(emptyText(asked.page, page));
  // The API has no pages for orders, and a total beside them may be an amount.
  else if (endpoint.list ? hasNext(page, asked) : page.hasNextPage)
    await output.note(nextPage(endpoint, page, asked));
  if (items.length > 0) await tellColumns(output, chosen, isList(endpoint));
}

function nextPage({ paged, path }: Endpoint, { page, totalPages }: Page, asked: PageQuery): string {
  const number = page || asked.page || 1;
  const here = `page ${number}${totalPages === undefined ? '' : ` of ${totalPages}`}`;
  const next = number + 1;
  return paged
    ? `${here}; add --page ${next} for the next page, or --all`
    : `${here}; for the next page: rungate api GET "${path}?page=${next}"`;
}

/** Returns the hint with the whole command that acts without a prompt. */
function confirming({ argv, io }: Context): string {
  const end = argv.indexOf('--');
  const words = argv.toSpliced(end < 0 ? argv.length : end, 0, '--yes');
  const command = quotedCommand(['rungate', ...words], io.platform);
  return command === null ? 'add --yes' : `add --yes: ${command}`;
}

/** Asks for confirmation before something is removed. Without a terminal, `--yes` is required. */
export async function confirm(context: Context, act: string, yes: boolean): Promise<boolean> {
  if (yes) return true;
  const shown = context.output.excerpt(act);
  const question = shown.charAt(0).toUpperCase() + shown.slice(1);
  const answer = await context.io.ask(`${question}? This cannot be undone. [y/N] `);
  if (answer === null) {
    const problem = 'this cannot be undone, and there is no terminal for a confirmation';
    throw new UsageError(`rungate did not ${shown}: ${problem}`, { hint: confirming(context) });
  }
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}
