// Everything that `startMock` loads, in one file: each additional `import()` splits the built code into more files.
export { endRun, progressNow } from '../mock/handlers/run.ts';
export { startMock as startService } from '../mock/server.ts';
export { endingFor, faultFor, mockOptionsOf, versionsFor } from './mock-options.ts';
