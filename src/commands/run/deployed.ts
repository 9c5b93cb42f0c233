import { runFacts } from '../../ci/context.ts';
import { checkHeaders, parseHeaders } from '../../client/headers.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import type { PageOptions } from '../../gate/deployed/open.ts';
import { groupOf } from '../../options/table.ts';
import { artifactsOf, versionsOf } from '../../subject.ts';
import { ciContext } from '../ci-context.ts';
import { guardHeaders } from '../config/credential-guard.ts';
import type { Context } from '../context.ts';
import { givenOptions } from '../options.ts';
import { warnIfExposed } from '../secret-files.ts';

const headerOption = '--deployed-header-file';

/** Reads the headers of `--deployed-header-file`. Warns if other users may read the file. */
async function readHeaderFile(context: Context, path: string): Promise<Record<string, string>> {
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
  return checkHeaders(headerOption, parseHeaders(headerOption, text));
}

/** Returns how to read the version page, whose URL is set. */
export async function pageOptions(context: Context): Promise<Omit<PageOptions, 'expected'>> {
  const { io, flags, settings, output, nameOf } = context;
  const { deployedHeaderFile: file } = flags;
  const { url, pointer } = groupOf(settings, 'deployed');
  if (file !== undefined) guardHeaders(io, settings);
  return {
    ...(await context.connection()),
    url: url?.value ?? '',
    pointer: pointer?.value,
    headers: file === undefined ? {} : await readHeaderFile(context, file),
    redact: output.redact,
    clock: io.clock,
    nameOf,
  };
}

/** Returns the versions of which the page should show one: the setting, or else the commit of the run or of the job and the subjects. */
async function expectedVersions(
  { io, settings }: Context,
  commit: string | undefined,
): Promise<readonly string[]> {
  const own = settings['deployed.is']?.value.trim();
  if (own !== undefined) return [own];
  const subjects = artifactsOf(settings['receipt.subjects']?.value);
  const versions = versionsOf(commit ?? runFacts(await ciContext(io)).commitSha, subjects);
  if (versions.length > 0) return versions;
  throw new UsageError('the expected build is unknown: neither CI nor git says which commit this is', {
    hint: 'give --deployed-is <text>, the text that the page should show, or the --subject whose digest it shows',
  });
}

/** Null if no URL is set. @param commit the commit of the run that is created, if one is */
export async function deployedOptions(context: Context, commit: string | undefined) {
  const { flags, settings } = context;
  const { url, timeout } = groupOf(settings, 'deployed');
  const [useless] = givenOptions(flags, ({ group }) => group === 'Deployed build:');
  if (url === undefined && useless !== undefined)
    throw new UsageError(`${useless} has no effect without the URL of the version page`, {
      hint: 'add --deployed-url <url>',
    });
  if (url === undefined) return null;
  const page = await pageOptions(context);
  const expected = await expectedVersions(context, commit);
  return { ...page, expected, timeoutMs: timeout?.value ?? 0 };
}
