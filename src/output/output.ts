import type { ErrorReport } from '../errors.ts';
import type { Io } from '../host/io.ts';
import { redactor } from '../redact.ts';
import { redactJson } from '../redact-json.ts';
import { escapeJson, excerpt, sanitize, sanitizeLines } from '../sanitize.ts';
import { renderJson, renderReply } from './json.ts';
import { createMotion, type Motion } from './motion.ts';
import { painter, type Tone, wantsColor } from './paint.ts';
import { renderTable, renderTsv, type Table } from './table.ts';
import { wrapWords } from './text.ts';

/** `plain` is what a pipe or a log gets when no format was asked for. */
export type Format = 'table' | 'json' | 'ndjson' | 'plain';

export interface OutputOptions {
  format: Format;
  quiet: boolean;
  verbose: boolean;
  /** Never shown, wherever they might turn up. */
  secrets: readonly string[];
}

/** stdout is the result and nothing else; all else goes to stderr. */
export interface Output {
  readonly format: Format;
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** The result as text, for people. */
  result(text: string): Promise<void>;
  /** The result as data: JSON where JSON was asked for, else a table. */
  data(value: unknown, table: Table): Promise<void>;
  /** The result as the service's own JSON text, digits and all. */
  reply(text: string, table: Table): Promise<void>;
  /** JSON text of the service, digits and all, as JSON whatever the format is. */
  json(text: string): Promise<void>;
  /** JSON texts, each in its line, as they are but for secrets. */
  lines(texts: string): Promise<void>;
  /** What happens, for a person; left out with `--quiet`. Each line must be harmless already. */
  note(line: string): Promise<void>;
  /** What a person must not miss: shown with `--quiet` too. */
  alert(line: string): Promise<void>;
  /** An error: one JSON line where JSON was asked for, else sentences. */
  error(report: ErrorReport): Promise<void>;
  /** The body of a response that was refused; shown with `--verbose`, where an error in JSON does not have it already. */
  refused(body: string | null | undefined): Promise<void>;
  paint(tone: Tone, text: string): string;
  /** What moves on the terminal while a person waits; it makes room for all that is written here. */
  readonly motion: Motion;
  /** The text without the secrets in it: for what is drawn in place and not written by this. */
  redact(text: string): string;
  /** Untrusted text without the secrets in it, in one line and no longer than `limit` characters. */
  excerpt(text: string, limit?: number): string;
  /** A person reads the result and the notes on one terminal: what the one says the other need not. */
  readonly oneScreen: boolean;
}

export async function createOutput(io: Io, options: OutputOptions): Promise<Output> {
  const { format, quiet, verbose, secrets } = options;
  const paint = await painter(wantsColor(io.env, io.err.isTTY));
  const redact = redactor(secrets);
  const toErr = (text: string) => io.err.write(redact(text));
  const motion = createMotion(io, quiet, paint);
  const toOut = (text: string) => {
    // The reader of the pipe may write to the same terminal from now on.
    if (!io.out.isTTY) motion.end();
    return io.out.write(text);
  };
  const result = (text: string) => toOut(redact(text));
  const indent = format === 'ndjson' ? 0 : 2;

  // Before cells are wrapped and lines folded: a secret over two lines is not found.
  const table = async (given: Table) => {
    const rows = { ...given, rows: given.rows.map((row) => row.map((cell) => cell && redact(cell))) };
    return result(format === 'table' ? await renderTable(rows, io.out.columns ?? 80) : renderTsv(rows));
  };
  // What is grepped in a log stays in one line; a person's terminal would break it in mid-word.
  const columns = () => (io.err.isTTY ? (io.err.columns ?? 80) : Number.POSITIVE_INFINITY);
  const folded = (text: string) =>
    redact(text)
      .split('\n')
      .flatMap((line) =>
        wrapWords(line, columns(), ' '.repeat(/^ */.exec(line)?.[0].length ?? 0).concat('  ')),
      )
      .join('\n');
  const json = format === 'json' || format === 'ndjson';

  const printJson = async (text: string) => toOut(await renderReply(text, indent, redact));

  const refused = async (body: string | null | undefined) => {
    if (!verbose || json || !body) return;
    const lines = sanitizeLines(redact(body)).trimEnd().split('\n');
    await io.err.write(`  the response:\n${lines.map((line) => `  ${line}\n`).join('')}`);
  };

  return {
    format,
    quiet,
    verbose,
    result,
    paint,
    motion,
    redact,
    excerpt: (text, limit) => excerpt(redact(text), limit),
    oneScreen: format === 'table' && io.out.isTTY && io.err.isTTY,
    data: async (value, rows) => (json ? toOut(renderJson(value, indent, redact)) : table(rows)),
    reply: (text, rows) => (json ? printJson(text) : table(rows)),
    json: printJson,
    lines: (texts) => toOut(escapeJson(redactJson(texts, redact))),
    note: async (line) => {
      if (!quiet) await toErr(`${folded(line)}\n`);
    },
    alert: (line) => toErr(`${folded(line)}\n`),
    refused,
    async error(report) {
      if (json) return io.err.write(renderJson({ error: report }, 0, redact));
      const say = (mark: string, painted: string, text: string, indent: string) => {
        const lines = wrapWords(`${mark}${redact(sanitize(text))}`, columns(), indent);
        return toErr(`${lines.join('\n').replace(mark, () => painted)}\n`);
      };
      await say('error: ', `${paint('bad', 'error:')} `, report.message, '  ');
      const { details } = report;
      if (typeof details === 'string' && !report.message.includes(details))
        await say('  ', '  ', details, '  ');
      if (report.hint !== null) await say('  → ', `  ${paint('dim', '→')} `, report.hint, '    ');
      await refused(report.body);
    },
  };
}
