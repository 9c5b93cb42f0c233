import { describe, expect, it } from 'vitest';
import { fieldTable } from '../../src/commands/endpoints/response-table.ts';
import { renderResponse } from '../../src/output/json.ts';

describe('numbers of the service', () => {
  it.each(['10.50', '12345678901234567890', '1e400', '-0', '0.1000'])(
    'keep their digits in JSON and in a table: %s',
    (digits) => {
      expect(renderResponse(`{"total":${digits}}`, 0)).toBe(`{"total":${digits}}\n`);
      expect(fieldTable(`{"total":${digits},"inner":{"n":${digits}}}`).rows).toEqual([
        ['total', digits],
        ['inner', `{"n":${digits}}`],
      ]);
    },
  );

  it('are printed for each of several fields with the same name', () => {
    expect(renderResponse('{"a":1,"2":0,"a":2.0}', 0)).toBe('{"a":1,"2":0,"a":2.0}\n');
  });
});
