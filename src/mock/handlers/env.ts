import type { env } from '../../contract/env.ts';
import type { HandlersOf } from '../handler.ts';
import { environmentHandlers } from './environments.ts';
import { variableHandlers } from './variables.ts';

export const envHandlers: HandlersOf<typeof env> = { ...environmentHandlers, ...variableHandlers };
