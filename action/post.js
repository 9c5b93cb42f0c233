// The runner starts this file at the end of the job, also after the job was cancelled or the main step was killed.

import { leave, runPost, systemIo } from '../dist/action/index.js';
import * as core from '../dist/action/toolkit.js';

process.exitCode = 70;
await leave(await runPost(core, systemIo));
