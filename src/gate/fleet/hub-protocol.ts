/** The version of the interface between gates and hubs. For a gate, a hub of another version is the same as no hub. */
export const hubVersion = 1;

/** The kinds of requests that a hub grants: the create, the first read of a run, the read after a wake-up, any other read. */
export const requestClasses = ['create', 'first', 'confirm', 'safety'] as const;
export type RequestClass = (typeof requestClasses)[number];
