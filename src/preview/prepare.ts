import type { Listed } from '../client/environments.ts';
import { ConfigError, type NameOf, UnexpectedResponseError } from '../errors.ts';
import type { Preview } from '../gate/start.ts';
import type { MemberText } from '../json/text.ts';
import { bareUrl } from '../transport/address.ts';
import { copied, type Variable } from './copy.ts';
import {
  commitMs,
  createEnvironment,
  createVariable,
  environmentsWithKey,
  idOf,
  lookEveryMs,
  patient,
  type Tools,
  variablesOf,
} from './environments.ts';
import { createdAt, isOwn, previewName } from './mark.ts';
import { withServiceClock } from './service-clock.ts';

interface PrepareTools extends Tools {
  nameOf: NameOf;
  /** Waits for the turn of a request that creates something. */
  turn(): Promise<void>;
  /** `creating`: the request is sent next. */
  tell(step: 'creating' | 'created' | 'found'): Promise<void>;
}

interface Model {
  fields: Iterable<MemberText>;
  variables: readonly Variable[];
}

/** Reads what is copied before anything is created. */
async function modelOf({ model: key, copyVariables }: Preview, tools: PrepareTools): Promise<Model> {
  const { nameOf } = tools;
  if (key === null) return { fields: [], variables: [] };
  const [model, ...others] = await environmentsWithKey(key, tools.caller, {
    ...patient,
    signal: tools.signal,
  });
  if (model === undefined || others.length > 0) {
    const what = model === undefined ? 'no environment has' : 'several environments have';
    throw new ConfigError(`${what} the key ${JSON.stringify(key)}, so the preview cannot be a copy of it`, {
      hint: `check ${nameOf('environment')}: with ${nameOf('preview.baseUrl')}, it names the environment to copy; rungate env list shows the keys`,
    });
  }
  const variables = copyVariables ? await variablesOf(idOf(model), tools) : [];
  const hidden = variables.filter(({ isShown }) => !isShown).map(({ name }) => name);
  if (hidden.length === 0) return { fields: model.fields, variables };
  throw new ConfigError(
    `the service does not show the values of these variables of ${key}, so they cannot be copied: ${hidden.join(', ')}`,
    {
      hint: `leave out ${nameOf('preview.copyVariables')}, or set ${nameOf('environment')} to an environment whose variables it shows`,
    },
  );
}

/** Returns the id of the environment that was just created, once the list shows it. */
async function createdId(key: string, { caller, clock, signal }: PrepareTools): Promise<string> {
  const end = clock.monotonic() + commitMs;
  for (;;) {
    const [{ id } = {}] = await environmentsWithKey(key, caller, { ...patient, signal });
    if (id !== undefined) return id;
    if (clock.monotonic() >= end)
      throw new UnexpectedResponseError(
        `the list of environments does not show ${key}, although it was created`,
        { field: 'items', expected: 'the environment', received: 'others' },
      );
    await clock.sleep(lookEveryMs, signal);
  }
}

/** Creates the variables that an environment does not have yet: the job may have created some before its re-run. */
async function addVariables(id: string, variables: readonly Variable[], tools: PrepareTools): Promise<void> {
  const present = new Set((await variablesOf(id, tools)).map(({ name }) => name));
  for (const variable of variables.filter(({ name }) => !present.has(name))) {
    await tools.turn();
    await createVariable(id, variable, tools);
  }
}

/** Refuses an environment that has the key, but is not rungate's, or stands for another deployment by now. */
function checkFound(environment: Listed, baseUrl: string): void {
  if (isOwn(environment, baseUrl)) return;
  const [field, what] = createdAt(environment) === null ? ['name', 'name'] : ['baseUrl', 'base URL'];
  throw new UnexpectedResponseError(
    `the environment ${environment.key} exists, but its ${what} is not that of this gate`,
    {
      field,
      expected: `the ${what} that rungate gives`,
      received: 'another one',
      hint: 'change its key, or delete it: rungate neither uses nor deletes it',
    },
  );
}

/** Creates the environment of a preview, or finds the one that this job created earlier. @throws RungateError or the signal's reason */
export async function prepareEnvironment(key: string, preview: Preview, tools: PrepareTools): Promise<void> {
  const { clock, signal, turn, tell } = tools;
  const { baseUrl, version } = preview;
  const model = await modelOf(preview, tools);
  const { caller, aheadMs } = withServiceClock(tools.caller, clock);
  const found = await environmentsWithKey(key, caller, { ...patient, signal });
  for (const environment of found) checkFound(environment, baseUrl.href);
  let ids = found.map(({ id }) => id);
  if (found.length > 0) await tell('found');
  else {
    await turn();
    const chosen = {
      // By our clock, which may be days behind, the environment could look old to `env prune` while it is used.
      name: previewName(clock.now() + (aheadMs() ?? 0), baseUrl.host),
      key,
      baseUrl: `${bareUrl(baseUrl)}${baseUrl.search}`,
      ...(version !== null && { version }),
    };
    const fields = Object.entries(chosen).map(([name, value]): MemberText => [name, JSON.stringify(value)]);
    const others = copied(model.fields, ['name', 'key', 'baseUrl', 'version']);
    await tell('creating');
    ids = [await createEnvironment(key, baseUrl.href, [...fields, ...others], tools)];
    await tell('created');
  }
  if (model.variables.length === 0) return;
  for (const id of ids) await addVariables(id ?? (await createdId(key, tools)), model.variables, tools);
}
