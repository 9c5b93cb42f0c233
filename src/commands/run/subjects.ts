import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { readProblem } from '../../host/read-file.ts';
import { rows } from '../../options/table.ts';
import { artifactsOf, parseArtifact, repeatedName } from '../../subject.ts';
import type { Context } from '../context.ts';
import { givenOptions } from '../options.ts';

/** Returns the SHA-256 of a file in hex, which is read in parts. @throws UsageError */
export async function digestOf(io: Io, option: string, path: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    // A pipe could be read only once, and a silent one would never end.
    if (!io.inspect(path).isFile)
      throw new UsageError(`${option}: ${path} is not a file`, {
        hint: 'pass the path of a regular file; pack a folder first, and deploy the archive',
      });
    for await (const part of io.streamFile(path)) hash.update(part);
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`${option}: cannot read ${path}: ${readProblem(cause)}`, {
      hint: 'pass the path of a file that you may read',
      cause,
    });
  }
  return hash.digest('hex');
}

/** Refuses subjects on the command line that nothing uses. */
function refuseUnused({ flags, settings }: Context): void {
  const [option] = givenOptions(flags, (row) => row === rows['receipt.subjects'] || row === rows.subjectFile);
  const comparesPage = settings['deployed.url'] !== undefined && settings['deployed.is'] === undefined;
  if (option === undefined || flags.receipt !== undefined || comparesPage) return;
  throw new UsageError(
    `${option} has no effect: no receipt is written, and no version page is compared with it`,
    {
      hint: 'add --receipt <path>, or --deployed-url <url> without --deployed-is',
    },
  );
}

/**
 * Returns the context with each file of `--subject-file` as a subject: its content may change before a later command goes on with
 * the gate. @throws UsageError
 */
export async function withSubjectFiles(context: Context): Promise<Context> {
  refuseUnused(context);
  const { io, flags, settings } = context;
  const { subjectFile, ...others } = flags;
  if (subjectFile === undefined) return context;
  const own = settings['receipt.subjects'];
  const texts = [...(own?.value ?? [])];
  for (const path of subjectFile) {
    const text = `${basename(path)}@sha256:${await digestOf(io, '--subject-file', path)}`;
    if (parseArtifact(text) === null)
      throw new UsageError(`--subject-file: ${path} is not the name of a subject`, {
        hint: 'rename the file',
      });
    texts.push(text);
  }
  const name = repeatedName(artifactsOf(texts));
  if (name !== undefined)
    throw new UsageError(`two subjects have the name ${JSON.stringify(name)}`, {
      hint: 'rename a file, or give its digest under another name: --subject <name@sha256:hex>',
    });
  const subjects = { origin: 'flag', detail: '--subject-file', ...own, value: texts } as const;
  return {
    ...context,
    settings: { ...settings, 'receipt.subjects': subjects },
    flags: { ...others, subject: texts },
  };
}
