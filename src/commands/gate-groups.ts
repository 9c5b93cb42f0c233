import { gate } from './gate/gate.ts';
import { noList } from './no-list.ts';
import { runCancel, runOpen, runStatus } from './run/one-run.ts';
import { runTrigger } from './run/trigger.ts';
import { runWait } from './run/wait.ts';
import { noteOf, type Spec } from './spec.ts';

/** The commands and groups that a gate needs. */
export const gateGroups: readonly Spec[] = [
  gate,
  {
    name: 'run',
    summary: 'trigger, wait for, show and cancel test runs',
    heading: 'Gate:',
    notes: noteOf(noList.run),
    commands: [runTrigger, runWait, runStatus, runOpen, runCancel],
  },
];
