// What the runner starts: the same gate as the command line, with the action's inputs as its words.

import { runMain, systemIo } from '../dist/action/index.js';
import * as core from '../dist/action/toolkit.js';

process.exitCode = 70;
process.exitCode = await runMain(core, systemIo);
