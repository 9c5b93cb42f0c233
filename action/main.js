// The runner starts this file: the gate of the command line, with the action's inputs as its arguments.

import { leave, runMain, systemIo } from '../dist/action/index.js';
import * as core from '../dist/action/toolkit.js';

process.exitCode = 70;
await leave(await runMain(core, systemIo));
