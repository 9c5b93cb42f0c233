import type { ErrorReport } from '../errors.ts';
import type { Io } from '../host/io.ts';
import { redactJson } from '../json/rewrite.ts';
import { type Redact, redactor } from '../redact.ts';
import { escapeJson, excerpt, sanitize, sanitizeLines } from '../sanitize.ts';
import { renderJson, renderResponse, wantsJson } from './json.ts';
import { createMotion, type Motion } from './motion.ts';
import { renderTable, renderTsv, type Table, withText } from './table.ts';
import { type Painter, painter, wantsColor, wrapWords } from './text.ts';

/** `plain` is the default for a pipe and for a file. */
export type Format = 'table' | 'json' | 'ndjson' | 'plain';

interface OutputOptions {
  format: Format;
  /** Whether standard output and standard error go into the log of a CI job, and the user chose no format. */
  isLog?: boolean;
  quiet: boolean;
  verbose: boolean;
  /** Redacted in all output. */
  secrets: readonly string[];
}

/** The width of tables in a log, whose reader may scroll, and on a terminal of unknown width. */
const defaultColumns = { log: 120, terminal: 80 };

/** Returns the functions that write to standard output. */
function resultWriter({ out }: Io, format: Format, columns: () => number, redact: Redact, motion: Motion) {
  const indent = format === 'ndjson' ? 0 : 2;
  const write = (text: string) => {
    // From now on, the program that reads the pipe may write to the same terminal.
    if (!out.isTTY) motion.end();
    return out.write(text);
  };
  // Redact before cells are wrapped: a secret that spans two lines would not be found.
  const table = async (given: Table) => {
    const rows = { ...given, rows: given.rows.map((row) => row.map((cell) => withText(cell, redact))) };
    return write(redact(format === 'table' ? await renderTable(rows, columns()) : renderTsv(rows)));
  };
  const json = async (text: string) => write(renderResponse(text, indent, redact));
  return {
    /** Writes the result as text, for people. */
    result: (text: string) => write(redact(text)),
    /** Writes the result as JSON if the format is JSON, else as a table or a text. */
    async data(value: unknown, shown: Table | string) {
      if (wantsJson({ format })) return write(renderJson(value, indent, redact));
      return typeof shown === 'string' ? write(redact(shown)) : table(shown);
    },
    /** Like `data`, for the JSON text of a response: numbers keep their digits. */
    response: (text: string, rows: Table) => (wantsJson({ format }) ? json(text) : table(rows)),
    /** Writes the JSON text of a response as JSON in every format; numbers keep their digits. */
    json,
    /** Writes JSON texts, one per line, unchanged except for secrets. */
    lines: (texts: string) => write(escapeJson(redactJson(texts, redact))),
  };
}

/** Returns the functions that write to standard error. */
function messageWriter(
  { err }: Io,
  { format, quiet, verbose }: OutputOptions,
  paint: Painter,
  redact: Redact,
) {
  const isJson = wantsJson({ format });
  // Logs keep long lines, for grep; on a terminal they are wrapped between words.
  const columns = () => (err.isTTY ? (err.columns ?? 80) : Number.POSITIVE_INFINITY);
  const folded = (line: string) =>
    wrapWords(line, columns(), ' '.repeat(/^ */.exec(line)?.[0].length ?? 0).concat('  '));
  /** Writes a warning, with `--quiet` too. The line must be sanitized. */
  const alert = (text: string) =>
    err.write(redact(`${redact(text).split('\n').flatMap(folded).join('\n')}\n`));
  const marked = (mark: string, problem: string, remedy: string | undefined) =>
    alert(`${mark} ${problem}${remedy === undefined ? '' : `\n  ${paint('dim', '→')} ${remedy}`}`);
  /** Writes the body of a refused response with `--verbose`, unless the format is JSON: that error contains it. */
  const refused = async (body: string | null | undefined) => {
    if (!verbose || isJson || !body) return;
    const lines = sanitizeLines(redact(body)).trimEnd().split('\n');
    await err.write(`  the response:\n${lines.map((line) => `  ${line}\n`).join('')}`);
  };
  return {
    /** Writes a progress line; not with `--quiet`. The line must be sanitized. */
    async note(line: string) {
      if (!quiet) await alert(line);
    },
    alert,
    /** Like `alert`, for a problem that starts with `warning:`, and its remedy. */
    warn: (problem: string, remedy?: string) => marked(paint('warn', 'warning:'), problem, remedy),
    /** Like `warn`, for an error that does not end the command. */
    fault: (problem: string, remedy?: string) => marked(paint('bad', 'error:'), problem, remedy),
    refused,
    /** Writes an error: one line of JSON if the format is JSON, else sentences. */
    async error(report: ErrorReport): Promise<void> {
      if (isJson) return err.write(renderJson({ error: report }, 0, redact));
      const say = (mark: string, painted: string, text: string, indent: string) => {
        const lines = wrapWords(`${mark}${redact(sanitize(text))}`, columns(), indent);
        return err.write(redact(`${lines.join('\n').replace(mark, () => painted)}\n`));
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

/** Writes the result to stdout and everything else to stderr. */
export type Output = Awaited<ReturnType<typeof createOutput>>;

export async function createOutput(io: Io, options: OutputOptions) {
  const { format, isLog = false, quiet, verbose, secrets } = options;
  const columns = () => io.out.columns ?? defaultColumns[isLog ? 'log' : 'terminal'];
  const paint = await painter(wantsColor(io.env, io.err.isTTY));
  const redact = redactor(secrets);
  const motion = createMotion(io, quiet, paint);
  return {
    ...resultWriter(io, format, columns, redact, motion),
    ...messageWriter(io, options, paint, redact),
    format,
    isLog,
    /** The width of tables, in columns. */
    get columns() {
      return columns();
    },
    verbose,
    paint,
    /** The animation on the terminal while a person waits; everything written here appears above it. */
    motion,
    /** Redacts a text that is not written through this output. */
    redact,
    /** Redacts and sanitizes a text, in one line of at most `limit` characters. */
    excerpt: (text: string, limit?: number) => excerpt(redact(text), limit),
    /** Whether the result and the progress lines appear on the same terminal, so that neither needs to repeat the other. */
    oneScreen: format === 'table' && io.out.isTTY && io.err.isTTY,
  };
}
