import type { ErrorReport } from '../errors.ts';
import type { Io } from '../host/io.ts';
import { redactJson } from '../json/rewrite.ts';
import { redactor } from '../redact.ts';
import { escapeJson, excerpt, sanitize, sanitizeLines } from '../sanitize.ts';
import { renderJson, renderResponse } from './json.ts';
import { createMotion, type Motion } from './motion.ts';
import { renderTable, renderTsv, type Table, withText } from './table.ts';
import { painter, type Tone, wantsColor, wrapWords } from './text.ts';

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

/** Writes the result to stdout and everything else to stderr. */
export interface Output {
  readonly format: Format;
  readonly isLog: boolean;
  /** The width of tables, in columns. */
  readonly columns: number;
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** Writes the result as text, for people. */
  result(text: string): Promise<void>;
  /** Writes the result as JSON if the format is JSON, else as a table or as the text. */
  data(value: unknown, shown: Table | string): Promise<void>;
  /** Like `data`, for the JSON text of a response: numbers keep their digits. */
  response(text: string, table: Table): Promise<void>;
  /** Writes the JSON text of a response as JSON in every format; numbers keep their digits. */
  json(text: string): Promise<void>;
  /** Writes JSON texts, one per line, unchanged except for secrets. */
  lines(texts: string): Promise<void>;
  /** Writes a progress line; not with `--quiet`. The line must be sanitized. */
  note(line: string): Promise<void>;
  /** Writes a warning, with `--quiet` too. The line must be sanitized. */
  alert(line: string): Promise<void>;
  /** Like `alert`, for a problem that starts with `warning:`, and its remedy. */
  warn(problem: string, remedy?: string): Promise<void>;
  /** Like `warn`, for an error that does not end the command. */
  fault(problem: string, remedy?: string): Promise<void>;
  /** Writes an error: one line of JSON if the format is JSON, else sentences. */
  error(report: ErrorReport): Promise<void>;
  /** Writes the body of a refused response with `--verbose`, unless the format is JSON: that error contains it. */
  refused(body: string | null | undefined): Promise<void>;
  paint(tone: Tone, text: string): string;
  /** The animation on the terminal while a person waits; everything written here appears above it. */
  readonly motion: Motion;
  /** Redacts a text that is not written through this output. */
  redact(text: string): string;
  /** Redacts and sanitizes a text, in one line of at most `limit` characters. */
  excerpt(text: string, limit?: number): string;
  /** Whether the result and the progress lines appear on the same terminal, so that neither needs to repeat the other. */
  readonly oneScreen: boolean;
}

/** The width of tables in a log, whose reader may scroll, and on a terminal of unknown width. */
const defaultColumns = { log: 120, terminal: 80 };

export async function createOutput(io: Io, options: OutputOptions): Promise<Output> {
  const { format, isLog = false, quiet, verbose, secrets } = options;
  const tableColumns = () => io.out.columns ?? defaultColumns[isLog ? 'log' : 'terminal'];
  const paint = await painter(wantsColor(io.env, io.err.isTTY));
  const redact = redactor(secrets);
  const toErr = (text: string) => io.err.write(redact(text));
  const motion = createMotion(io, quiet, paint);
  const toOut = (text: string) => {
    // From now on, the program that reads the pipe may write to the same terminal.
    if (!io.out.isTTY) motion.end();
    return io.out.write(text);
  };
  const result = (text: string) => toOut(redact(text));
  const indent = format === 'ndjson' ? 0 : 2;

  // Redact before cells are wrapped: a secret that spans two lines would not be found.
  const table = async (given: Table) => {
    const rows = { ...given, rows: given.rows.map((row) => row.map((cell) => withText(cell, redact))) };
    return result(format === 'table' ? await renderTable(rows, tableColumns()) : renderTsv(rows));
  };
  // Logs keep long lines, for grep; on a terminal they are wrapped between words.
  const columns = () => (io.err.isTTY ? (io.err.columns ?? 80) : Number.POSITIVE_INFINITY);
  const folded = (text: string) =>
    redact(text)
      .split('\n')
      .flatMap((line) =>
        wrapWords(line, columns(), ' '.repeat(/^ */.exec(line)?.[0].length ?? 0).concat('  ')),
      )
      .join('\n');
  const json = format === 'json' || format === 'ndjson';

  const printJson = async (text: string) => toOut(renderResponse(text, indent, redact));

  const alert = (line: string) => toErr(`${folded(line)}\n`);
  const marked = (mark: string, problem: string, remedy: string | undefined) =>
    alert(`${mark} ${problem}${remedy === undefined ? '' : `\n  ${paint('dim', '→')} ${remedy}`}`);

  const refused = async (body: string | null | undefined) => {
    if (!verbose || json || !body) return;
    const lines = sanitizeLines(redact(body)).trimEnd().split('\n');
    await io.err.write(`  the response:\n${lines.map((line) => `  ${line}\n`).join('')}`);
  };

  return {
    format,
    isLog,
    get columns() {
      return tableColumns();
    },
    quiet,
    verbose,
    result,
    paint,
    motion,
    redact,
    excerpt: (text, limit) => excerpt(redact(text), limit),
    oneScreen: format === 'table' && io.out.isTTY && io.err.isTTY,
    data: async (value, shown) => {
      if (json) return toOut(renderJson(value, indent, redact));
      return typeof shown === 'string' ? result(shown) : table(shown);
    },
    response: (text, rows) => (json ? printJson(text) : table(rows)),
    json: printJson,
    lines: (texts) => toOut(escapeJson(redactJson(texts, redact))),
    note: async (line) => {
      if (!quiet) await toErr(`${folded(line)}\n`);
    },
    alert,
    warn: (problem, remedy) => marked(paint('warn', 'warning:'), problem, remedy),
    fault: (problem, remedy) => marked(paint('bad', 'error:'), problem, remedy),
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
