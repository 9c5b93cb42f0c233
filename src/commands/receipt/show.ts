import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { openEnvelope } from '../../receipt/dsse.ts';
import { Refused } from '../../receipt/error.ts';
import { type Json, parseObject, refuseDuplicates } from '../../receipt/json.ts';
import { baseUrlOf, environmentOf, factsOf, type Statement } from '../../receipt/statement.ts';
import { readStatement } from '../../receipt/statement-schema.ts';
import { artifactText } from '../../subject.ts';
import type { Context } from '../context.ts';
import { readReceipt } from './files.ts';

/** The content of a file that nothing vouches for. */
interface Content {
  /** The number of signatures; 0 for a bare statement. */
  signatures: number;
  text: string;
  value: Json;
}

function receiptContent(bytes: Uint8Array): Content {
  const { text, value } = parseObject(bytes, 'the file');
  if (value._type !== undefined) return { signatures: 0, text, value };
  const { payload, signatures } = openEnvelope(bytes);
  return { signatures: signatures.length, ...parseObject(payload, 'the statement') };
}

/** Returns the statement of a receipt, or why it is not one. */
function statementOf({ text, value }: Content): Statement | string {
  try {
    refuseDuplicates(text, 'the statement');
    return readStatement(value);
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
}

function rowsOf(statement: Statement): [string, string][] {
  const {
    subject: [subject, ...artifacts],
    predicate,
  } = statement;
  const { gate, runs, ref, buildUrl, finishedAt, deployed } = factsOf(statement);
  const facts: [string, unknown][] = [
    ['result', predicate.result],
    ['gate', gate],
    ['commit', subject.digest.gitCommit],
    ['repository', subject.name],
    ...artifacts.map((artifact): [string, unknown] => ['subject', artifactText(artifact)]),
    ['ref', ref],
    ['service', predicate.configuration[0].uri],
    ['environment', environmentOf(statement)],
    ['base URL', baseUrlOf(statement)],
    ...runs.flatMap((run): [string, unknown][] => [
      ['run', run.runId],
      ['verdict', run.verdict],
      ['project', run.project],
      ['process', run.process],
      ['tags', run.tags?.join(', ')],
      ['url', run.appUrl],
    ]),
    ['deployed', deployed?.version],
    ['build', buildUrl],
    ['finished', finishedAt],
  ];
  return facts
    .filter(([, fact]) => fact !== undefined && fact !== null)
    .map(([name, fact]) => [name, String(fact)]);
}

export async function showCommand({ io, output }: Context, file: string): Promise<number> {
  const bytes = await readReceipt(io, '<file>', file);
  let content: Content;
  try {
    content = receiptContent(bytes);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw new UsageError(`${file} is not a receipt: ${error.message}`, {
      hint: 'pass a file that rungate gate --receipt has written',
    });
  }
  const statement = statementOf(content);
  const { signatures, value } = content;
  const rows = typeof statement === 'string' ? [] : rowsOf(statement);
  const data = {
    schemaVersion: 1,
    verified: false,
    signatures,
    statement: value,
  };
  await output.data(data, {
    head: ['FIELD', 'VALUE'],
    rows: rows.map(([name, fact]) => [name, output.excerpt(fact, 1000)]),
  });
  const warning = output.paint('warn', 'warning:');
  if (typeof statement === 'string')
    await output.alert(`${warning} this is not a receipt of rungate: ${output.excerpt(statement)}`);
  const why = signatures === 0 ? 'it has no signature' : 'its signatures were not checked';
  await output.alert(`${warning} not verified: ${why}, and anyone can write such a file`);
  await output.alert(
    `  ${output.paint('dim', '→')} verify it: rungate receipt verify <file> --key <pem> --commit <sha>`,
  );
  return exitCodes.ok;
}
