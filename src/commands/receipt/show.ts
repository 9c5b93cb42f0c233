import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { openEnvelope } from '../../receipt/dsse.ts';
import { Refused } from '../../receipt/error.ts';
import { type Json, parseObject, refuseDuplicates } from '../../receipt/json.ts';
import { environmentFact, factsOf, type Statement } from '../../receipt/statement.ts';
import { readStatement } from '../../receipt/statement-schema.ts';
import { artifactText } from '../../subject.ts';
import { command } from '../spec.ts';
import { readReceipt } from './named-receipts.ts';

/** The content of a file that nothing vouches for. */
interface Content {
  /** The number of signatures; 0 for a bare statement. */
  signatures: number;
  value: Json;
  /** The statement of a receipt, or why it is not one. */
  statement: Statement | string;
}

/** @throws Refused if it contains no JSON object */
function contentOf(bytes: Uint8Array): Content {
  let { text, value } = parseObject(bytes, 'the file');
  let signatures = 0;
  if (value._type === undefined) {
    const envelope = openEnvelope(bytes);
    signatures = envelope.signatures.length;
    ({ text, value } = parseObject(envelope.payload, 'the statement'));
  }
  try {
    refuseDuplicates(text, 'the statement');
    return { signatures, value, statement: readStatement(value) };
  } catch (error) {
    if (error instanceof Refused) return { signatures, value, statement: error.message };
    throw error;
  }
}

function rowsOf(statement: Statement): [name: string, fact: unknown][] {
  const [commit, ...artifacts] = statement.subject;
  const { result, configuration } = statement.predicate;
  const { gate, runs, ref, buildUrl, finishedAt, deployed } = factsOf(statement);
  return [
    ['result', result],
    ['gate', gate],
    ['commit', commit.digest.gitCommit],
    ['repository', commit.name],
    ...artifacts.map((artifact): [string, unknown] => ['subject', artifactText(artifact)]),
    ['ref', ref],
    ['service', configuration[0].uri],
    ['environment', environmentFact(statement, 'key')],
    ['base URL', environmentFact(statement, 'baseUrl')],
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
}

export const receiptShow = command({
  name: 'show',
  summary: 'show a receipt without verifying it',
  description: 'Show the content of a receipt. Nothing is verified: anyone can write such a file.',
  args: { '<file>': 'the receipt; - for standard input' },
  examples: ['rungate receipt show receipt.json'],
  async run({ io, output }, { file }) {
    const bytes = await readReceipt(io, '<file>', file);
    let content: Content;
    try {
      content = contentOf(bytes);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      throw new UsageError(`${file} is not a receipt: ${error.message}`, {
        hint: 'pass a file that rungate gate --receipt has written',
      });
    }
    const { signatures, value, statement } = content;
    const rows = typeof statement === 'string' ? [] : rowsOf(statement);
    await output.data(
      { schemaVersion: 1, verified: false, signatures, statement: value },
      {
        head: ['FIELD', 'VALUE'],
        rows: rows.flatMap(([name, fact]) =>
          fact === undefined || fact === null ? [] : [[name, output.excerpt(String(fact), 1000)]],
        ),
      },
    );
    if (typeof statement === 'string')
      await output.warn(`this is not a receipt of rungate: ${output.excerpt(statement)}`);
    const why = signatures === 0 ? 'it has no signature' : 'its signatures were not checked';
    await output.warn(
      `not verified: ${why}, and anyone can write such a file`,
      'verify it: rungate receipt verify <file> --key <pem> --commit <sha>',
    );
    return exitCodes.ok;
  },
});
