import type { Exchange } from '../../client/caller.ts';
import { hasNext, type Page, type PageQuery, readPage } from '../../client/list.ts';
import { type Api, type Endpoint, pathParams } from '../../contract/endpoint.ts';
import { api } from '../../contract/index.ts';
import { isList } from '../../contract/shape.ts';
import { HttpError, UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { itemTexts } from '../../json/text.ts';
import { wantsJson } from '../../output/json.ts';
import type { Context } from '../context.ts';
import { quotedCommand } from '../shell-quoted.ts';
import { attachmentOf, type InputFlags, kebab, queryOf, requestBody } from './body-input.ts';
import { namesEnvironment, useEnvironmentId } from './environment-id.ts';
import { listAll } from './list-all.ts';
import {
  emptyText,
  fieldTable,
  givenColumns,
  itemColumns,
  tellLoose,
  warnOfHtml,
  warnOfMismatches,
} from './response-table.ts';

interface EndpointFlags extends InputFlags {
  all?: boolean;
  columns?: string;
  yes?: boolean;
  file?: string;
}

type Args = Readonly<Record<string, unknown>>;

export async function callEndpoint(
  context: Context,
  name: string,
  endpoint: Endpoint,
  args: Args,
  flags: EndpointFlags,
): Promise<number> {
  const { io, output } = context;
  const params = Object.fromEntries(pathParams(endpoint.path).map((param) => [param, String(args[param])]));
  const columns = givenColumns(output, flags.columns);
  const query = endpoint.query === undefined ? {} : queryOf(endpoint.query, args.text, flags);
  const json = await requestBody(io, flags, endpoint.body);
  const attachment = flags.file === undefined ? undefined : await attachmentOf(io, flags.file);
  if (attachment !== undefined && json !== undefined) {
    throw new UsageError('a file and fields cannot be combined', { hint: 'give --file, or the fields' });
  }
  const isEmpty = json === undefined && attachment === undefined;
  if (isEmpty && endpoint.body !== undefined && endpoint.bodyOptional !== true) {
    throw new UsageError('nothing to send: no field is given', {
      hint: 'give fields as options, with --field, or with --input',
    });
  }
  const caller = await context.connect();
  // As the user names it, before a key becomes an id.
  const act = endpoint.destructive?.replace(/\{(\w+)\}/g, (_, param: string) => params[param] ?? '');
  if (act !== undefined && !(await confirm(context, act, flags.yes === true))) {
    await output.alert('nothing was done');
    return exitCodes.failed;
  }
  const hint = namesEnvironment(endpoint) ? await useEnvironmentId(caller, params) : undefined;
  if (flags.all === true) return listAll(context, name, endpoint, { params, query }, columns);
  if (endpoint.body !== undefined && json !== undefined) await tellLoose(output, endpoint.body, json);
  const sent = caller.exchange(name, endpoint, { params, query, body: attachment, json });
  const response = await sent.catch((error) => {
    throw hinted(error, name, endpoint, args, hint);
  });
  if (response.text === '') {
    if (wantsJson(output)) await output.json('null');
    const text = endpoint.method === 'GET' ? 'the response has no body' : (pastOf(act) ?? 'done');
    await output.note(endpoint.list ? emptyText(query.page) : output.excerpt(text));
  } else if (!(await warnOfHtml(context, response))) {
    const page = isList(endpoint) || Array.isArray(response.value) ? readPage(response.value) : undefined;
    if (page === undefined) await printFields(context, name, response, pastOf(act));
    else await printItems(context, endpoint, response, page, columns, query);
  }
  return exitCodes.ok;
}

/** `delete the webhook wh_1` → `deleted the webhook wh_1`. */
const pastOf = (act: string | undefined) => act?.replace(/^\w+e/, '$&d');

async function printFields(
  { output }: Context,
  name: string,
  response: Exchange,
  done: string | undefined,
): Promise<void> {
  await output.response(response.text, fieldTable(response.text));
  await warnOfMismatches(output, response);
  if (done !== undefined) await output.note(output.excerpt(done));
  if (name.startsWith('webhooks.') && Object(response.value).secret !== undefined)
    await output.note('store the secret for verify and listen: rungate login --webhook-secret');
}

async function printItems(
  { output }: Context,
  endpoint: Endpoint,
  response: Exchange,
  page: Page,
  given: readonly string[] | undefined,
  asked: PageQuery,
): Promise<void> {
  const items = itemTexts(response.text, page);
  const columns = itemColumns(output, endpoint, given);
  await output.response(response.text, columns.table(items));
  await warnOfMismatches(output, response);
  if (items.length === 0) return output.note(emptyText(asked.page, page));
  // The API has no pages for orders, and a total beside them may be an amount.
  const isMore = endpoint.list ? hasNext(page, asked) : page.hasNextPage;
  if (isMore) await output.note(nextPage(endpoint, page, asked));
  await columns.tell();
}

function nextPage({ paged, path }: Endpoint, { page, totalPages }: Page, asked: PageQuery): string {
  const number = page || asked.page || 1;
  const here = `page ${number}${totalPages === undefined ? '' : ` of ${totalPages}`}`;
  const next = number + 1;
  return paged
    ? `${here}; add --page ${next} for the next page, or --all`
    : `${here}; for the next page: rungate api GET "${path}?page=${next}"`;
}

export const commandOf = (name: string) => ['rungate', ...name.split('.').map(kebab)].join(' ');

/** Returns a path without the names of its parameters, and without the ending of the orders. */
const shapeOf = (path: string) => path.replace(/\{\w+\}/g, '{}').replace(/\.json$/, '');

/** Returns the command that reads this path, with the arguments for it; undefined if there is none. */
function readerOf(path: string, args: Args): string | undefined {
  const reader = Object.entries(api as Api).find(
    ([, { method, path: other }]) => method === 'GET' && shapeOf(other) === shapeOf(path),
  );
  if (reader === undefined) return undefined;
  const shown = pathParams(path).map((param) => {
    const given = String(args[param]);
    return /^\w[\w.-]{0,59}$/.test(given) ? given : `<${param}>`;
  });
  return [commandOf(reader[0]), ...shown].join(' ');
}

/**
 * Returns the error of an endpoint with a command that shows more: the ids for 404, the item for a conflict, otherwise the help.
 * @param hint the remedy if the service did not find the environment
 */
function hinted(
  error: unknown,
  name: string,
  { path }: Endpoint,
  args: Args,
  hint: string | undefined,
): unknown {
  if (!(error instanceof HttpError)) return error;
  const [item = '', parent = ''] = /^(.*)\/\{\w+\}/.exec(path) ?? [];
  const reader = error.status === 404 ? readerOf(parent, args) : readerOf(item, args);
  if (error.status === 404) {
    const ids = reader === undefined ? [] : [`${reader} shows the ids`];
    error.hint = hint ?? [error.hint, ...ids].filter(Boolean).join('; ');
  }
  const isConflict = error.status === 409 && reader !== undefined;
  error.hint ??= isConflict ? `${reader} shows its state` : `see ${commandOf(name)} --help`;
  return error;
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
    const problem = 'this cannot be undone, and there is no terminal to confirm it';
    throw new UsageError(`rungate did not ${shown}: ${problem}`, { hint: confirming(context) });
  }
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}
