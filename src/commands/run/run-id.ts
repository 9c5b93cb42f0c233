import { UsageError } from '../../errors.ts';
import { checkRunId } from '../../gate/service.ts';
import { excerpt } from '../../sanitize.ts';

/** The last part of an address's path: what a run's own page ends in. */
function lastPart(address: string): string | null {
  const [path = ''] = address.replace(/^https?:\/\/[^/]*/i, '').split(/[?#]/);
  return path.split('/').findLast((part) => part !== '') ?? null;
}

/**
 * A run id as somebody typed or pasted it.
 * @throws UsageError where it cannot be one, or where more was pasted than the id
 */
export function givenRunId(text: string): string {
  if (/^https?:\/\//i.test(text.trim())) {
    const id = lastPart(text.trim());
    throw new UsageError('<runId> is an address, and the id of a run is wanted', {
      hint:
        id === null
          ? 'give the id as run trigger printed it'
          : `its last part is likely the id: ${excerpt(id, 80)}`,
    });
  }
  if (text !== text.trim() && text.trim() !== '') {
    throw new UsageError(`<runId> has white space around it: ${JSON.stringify(excerpt(text, 80))}`, {
      hint: `give it without: ${excerpt(text.trim(), 80)}`,
    });
  }
  checkRunId(text);
  return text;
}
