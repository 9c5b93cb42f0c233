import { type MemberText, unquoted } from '../json/text.ts';

/** Fields that the service sets itself, or that may stand for one environment only. */
const ownToEach = /^(?:_?id|uuid|slug|isDefault|default|variables|.*(?:At|Count|By))$|^(?:created|updated)/i;

/** Returns the fields of a record that another one may have as well, with their digits. */
export function copied(fields: Iterable<MemberText>, others: readonly string[] = []): MemberText[] {
  return [...fields].filter(([name]) => !ownToEach.test(name) && !others.includes(name));
}

/** A text that stands for a value that the service does not show. */
const masked = /[*•●·…]{3}|^\W*(?:redacted|masked|hidden|secret|encrypted)\W*$/i;

/** A variable of an environment, as far as it can be copied. */
export interface Variable {
  readonly name: string;
  readonly fields: readonly MemberText[];
  /** Whether the record shows the value. */
  readonly isShown: boolean;
}

function textOf(json: string | undefined): string | undefined {
  return json?.startsWith('"') ? unquoted(json) : undefined;
}

export function variableOf(members: readonly MemberText[]): Variable {
  const fields = new Map(members);
  const value = textOf(fields.get('value')) ?? '';
  return {
    name: textOf(fields.get('name')) ?? '(without a name)',
    fields: copied(members, ['environmentId']),
    isShown: fields.has('name') && value.trim() !== '' && !masked.test(value),
  };
}
