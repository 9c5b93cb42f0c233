// The runner starts this file at the end of the job, also after the job was cancelled or the main step was killed.

import { runPost, systemIo } from '../dist/action/index.js';
import * as core from '../dist/action/toolkit.js';

process.exitCode = 70;
process.exitCode = await runPost(core, systemIo);
