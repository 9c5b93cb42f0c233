import {
  deliveryKinds,
  type FaultKind,
  rowOf as faultRow,
  requestKinds,
} from '../../src/mock/faults/kinds.ts';
import { fileIds, flagName, rowOf } from '../../src/options/table.ts';
import { alignedTable } from '../docs/aligned-table.ts';
import { type Expected, table as vectors } from '../webhook/table.ts';
import { documents } from './documents.ts';

const code = (text: string) => (text === '' ? '' : `\`${text}\``);

/** Replaces a part of a page. @throws if the page has no such part */
function replaced(page: string, part: RegExp, text: string): string {
  if (!part.test(page)) throw new Error(`no part of the page matches ${part}`);
  return page.replace(part, () => text);
}

/** Returns docs/reference/settings.md with the table of the settings. */
export function withSettings(page: string): string {
  const rows = fileIds.map((id) => {
    const row = rowOf(id);
    const option = flagName(row);
    const options = row.no === undefined ? [option] : [option, `--no-${option.slice(2)}`];
    return [code(id), options.map(code).join(', '), code(row.env ?? '')];
  });
  const table = alignedTable([['setting', 'option', 'environment variable'], ...rows]);
  return replaced(page, /\| setting +\| option[\s\S]*?\n(?!\|)/, `${table}\n`);
}

/** Returns docs/reference/output.md with the table of the schemas. */
export function withSchemas(page: string): string {
  const rows = Object.entries(documents).map(([name, { about, commands }]) => [
    code(`${name}.json`),
    commands.length === 0 ? about : commands.map(code).join(', '),
  ]);
  const table = alignedTable([['schema', 'commands'], ...rows]);
  return replaced(page, /\| schema +\| commands[\s\S]*?\n(?!\|)/, `${table}\n`);
}

/** Returns a kind of fault with its parameters. */
function faultCell(kind: FaultKind): string {
  const { parameters, duration } = faultRow(kind);
  const all = [parameters ?? [], duration === undefined ? [] : `\`${duration}?\``].flat();
  return `\`${kind}\`${all.length === 0 ? '' : ` (${all.join(', ')})`}`;
}

const kindsOf = (table: object) => Object.keys(table) as FaultKind[];

/** Returns docs/reference/mock.md with the tables of the faults. */
export function withFaults(page: string): string {
  const requests = kindsOf(requestKinds).map((kind) => {
    const { gets, commits } = faultRow(kind);
    return [faultCell(kind), gets, commits ? 'yes' : ''];
  });
  const deliveries = kindsOf(deliveryKinds).map((kind) => [faultCell(kind), faultRow(kind).gets]);
  const ofRequests = alignedTable([['kind', 'the client gets', 'request takes effect'], ...requests]);
  const ofDeliveries = alignedTable([['kind', 'the receiver gets'], ...deliveries]);
  return replaced(
    replaced(page, /(?<=<!-- faults of requests -->).*?(?=<!-- end -->)/s, `\n\n${ofRequests}\n\n`),
    /(?<=<!-- faults of deliveries -->).*?(?=<!-- end -->)/s,
    `\n\n${ofDeliveries}\n\n`,
  );
}

function resultCell(expected: Expected): string {
  if (typeof expected === 'string') return code(expected);
  return expected.secretIndex === 0 ? 'accepted' : `accepted, \`secretIndex\` ${expected.secretIndex}`;
}

/** Returns docs/project/webhook-vectors.md with the tables of the expected results. */
export function withVectors(page: string): string {
  const tables = vectors.map(({ title, rows }) =>
    alignedTable([[title, 'Result'], ...rows.map(({ name, expected }) => [name, resultCell(expected)])]),
  );
  return replaced(page, /(?<=<!-- table -->).*(?=<!-- end of table -->)/s, `\n\n${tables.join('\n\n')}\n\n`);
}
