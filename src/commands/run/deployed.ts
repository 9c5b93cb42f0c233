import { runFacts } from '../../ci/context.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import type { OpenDeployed, PageOptions } from '../../gate/deployed/open.ts';
import type { Emit } from '../../gate/events.ts';
import { ciContext } from '../ci-context.ts';
import { guardHeaders } from '../config/credential-guard.ts';
import { type Context, warnIfExposed } from '../context.ts';
import { namesOf } from '../source-names.ts';
import { givenWaitFlags, type WaitFlags } from './wait-flags.ts';

const headerOption = '--deployed-header-file';

/** Reads the headers of `--deployed-header-file`. Warns if other users may read the file. */
async function readHeaders(context: Context, path: string): Promise<Record<string, string>> {
  let text: string;
  try {
    await warnIfExposed(context, path);
    text = new TextDecoder().decode(context.io.readFile(path));
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new ConfigError(`the header file cannot be read: ${path} (${code ?? message})`, {
      hint: `check ${headerOption}`,
      cause,
    });
  }
  const { parseHeaders } = await import('../../gate/deployed/headers.ts');
  return parseHeaders(headerOption, text);
}

/** Returns how to read the version page, whose URL is set. */
export async function pageOptions(
  context: Context,
  flags: Pick<WaitFlags, 'deployedHeaderFile'>,
): Promise<Omit<PageOptions, 'expected'>> {
  const { io, settings, output } = context;
  const { deployedHeaderFile: file } = flags;
  if (file !== undefined) guardHeaders(io, settings);
  return {
    ...(await context.connection()),
    url: settings['deployed.url']?.value ?? '',
    pointer: settings['deployed.pointer']?.value,
    headers: file === undefined ? {} : await readHeaders(context, file),
    redact: output.redact,
    clock: io.clock,
    names: namesOf(settings),
  };
}

/** Returns the version that the page should show: the setting, or else the commit of the run or of the job. */
export async function expectedVersion(
  { io, settings }: Context,
  commit: string | undefined,
): Promise<string> {
  const expected = settings['deployed.is']?.value.trim() ?? commit ?? runFacts(await ciContext(io)).commitSha;
  if (expected !== null) return expected;
  throw new UsageError('the expected build is unknown: neither the CI nor git says which commit this is', {
    hint: 'give --deployed-is <text>, the text that the page of --deployed-url should show',
  });
}

/** Refuses options that have no effect without the URL of the page. */
function refuseAlone(flags: WaitFlags): void {
  const given = givenWaitFlags(flags).find((name) => name.startsWith('--deployed-'));
  if (given === undefined) return;
  throw new UsageError(`${given} has no effect without the URL of the version page`, {
    hint: 'add --deployed-url <url>',
  });
}

/**
 * Opens the check of the deployed build, if a URL is set. Without one, nothing of it is loaded.
 * @param commit the commit of the run that is created, if one is
 * @throws UsageError or ConfigError before anything is sent
 */
export async function openCommandDeployed(
  context: Context,
  flags: WaitFlags,
  commit: string | undefined,
  emit: Emit,
): Promise<OpenDeployed | undefined> {
  if (context.settings['deployed.url'] === undefined) {
    refuseAlone(flags);
    return undefined;
  }
  const page = await pageOptions(context, flags);
  const expected = await expectedVersion(context, commit);
  const { openDeployed } = await import('../../gate/deployed/open.ts');
  const timeoutMs = context.settings['deployed.timeout']?.value ?? 0;
  return openDeployed({ ...page, expected, timeoutMs, clock: context.io.clock, emit });
}
