import { argumentRows, ownInputs, variableIds } from '../../src/action/inputs.ts';
import { gateRow, inputName, type OptionRow, rowOf, sentence } from '../../src/options/table.ts';

/** Returns the inputs as action.yml declares them: the required ones first, those about the connection last. */
function declaredInputs(): string {
  const isRequired = (row?: OptionRow) => row?.required?.includes('input') === true;
  const quoted = (value: string) => (/: |^["'`]|^[a-z]*$/.test(value) ? JSON.stringify(value) : value);
  const entry = (name: string, about: string, value?: string, row?: OptionRow) =>
    [
      `  ${name === 'on' ? '"on"' : name}:`,
      `    description: ${quoted(about)}`,
      `    required: ${isRequired(row)}`,
      ...(value === undefined ? [] : [`    default: ${quoted(value)}`]),
    ].join('\n');
  const place = (row: OptionRow) => (isRequired(row) ? 0 : row.group === 'Global options:' ? 2 : 1);
  const rows = [...argumentRows, ...variableIds.map(rowOf)].toSorted((a, b) => place(a) - place(b));
  const entries = rows.map((row) => {
    const about = sentence(gateRow(row));
    const isList = row.type.kind === 'list' || row.type.kind === 'overrides';
    const more =
      row.secret !== undefined
        ? ' GitHub masks it in the log.'
        : isList
          ? ' One per line, or separated by commas.'
          : '';
    return entry(inputName(row) ?? '', `${about}${more}`, undefined, row);
  });
  const own = [entry('gates', ownInputs.gates), entry('matrix', ownInputs.matrix, '${{ toJSON(matrix) }}')];
  return `inputs:\n${[...entries, ...own].join('\n')}\n`;
}

/** Returns action.yml with the inputs of the rows. */
export function withInputs(manifest: string): string {
  const inputs = manifest.slice(manifest.indexOf('inputs:\n'), manifest.indexOf('outputs:\n'));
  return manifest.replace(inputs, () => `${declaredInputs()}\n`);
}
