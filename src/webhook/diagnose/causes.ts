import { bodyCauses } from './causes/body.ts';
import { messageCauses } from './causes/message.ts';
import type { Row } from './causes/row.ts';
import { secretCauses } from './causes/secret.ts';
import { timestampCauses } from './causes/timestamp.ts';

/** Every cause, the likeliest first: of several that explain the same bytes the first is named. */
export const rows: readonly Row[] = [...bodyCauses, ...secretCauses, ...timestampCauses, ...messageCauses];
