/** The lists that the service does not offer, with a way to do without them: for the help of a group, and for hints. */
export const noList = {
  run: 'the service has no endpoint that lists runs: rungate run trigger prints the id of a new run, and rungate run status <runId> shows a run',
  keys: 'the service has no endpoint that lists API keys: note the id that rungate keys create prints, because rungate keys delete needs it',
} as const;
