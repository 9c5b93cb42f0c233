import type { Fault } from '../../../src/mock/server.ts';

/** A token whose `exp` is at a time, in milliseconds since the epoch. */
export const tokenUntil = (ms: number) =>
  `eyJhbGciOiJub25lIn0.${Buffer.from(JSON.stringify({ exp: ms / 1000 })).toString('base64url')}.c2lnbmF0dXJl`;

const always = (fault: Fault): Fault => ({ ...fault, times: Number.POSITIVE_INFINITY });

export interface Trouble {
  what: string;
  code: number;
  /** The error or the warning, in which the URL of the deployment is https://shop-42.example. */
  message: string;
  env?: Record<string, string | undefined>;
  flags?: string[];
  faults?: Fault[];
  /** The response of the deployment. */
  page?: { status: number; headers?: Record<string, string> } | 'down';
  /** Whether a run was created. */
  ran?: true;
}

/** Troubles around a preview deployment. */
export const troubles: readonly Trouble[] = [
  {
    what: 'no token',
    code: 6,
    message:
      'no bearer token is set: rungate creates an environment for the deployment and deletes it, which an API key cannot do',
    env: { RUNGATE_TOKEN: undefined },
  },
  {
    what: 'the token has expired',
    code: 78,
    message: 'RUNGATE_TOKEN expired 1 h ago (2026-01-15T11:00:00Z)',
    env: { RUNGATE_TOKEN: tokenUntil(Date.UTC(2026, 0, 15, 11)) },
  },
  {
    what: 'the token expires too early',
    code: 78,
    message:
      'RUNGATE_TOKEN expires in 30 min (2026-01-15T12:30:00Z), but the gate may take 1 h 5 min: the environment could not be deleted then',
    env: { RUNGATE_TOKEN: tokenUntil(Date.UTC(2026, 0, 15, 12, 30)) },
  },
  {
    what: 'the service refuses the token',
    code: 6,
    message: 'the service refused the bearer token (401) for GET /api/environments',
    env: { RUNGATE_TOKEN: 'tok_of_someone_else_1234' },
  },
  {
    what: 'the environment to copy does not exist',
    code: 78,
    message: 'no environment has the key "stagin", so the preview cannot be a copy of it',
    flags: ['--environment', 'stagin'],
  },
  {
    what: 'the service does not show the value of a variable',
    code: 78,
    message: 'the service does not show the values of these variables of staging, so they cannot be copied: ',
    flags: ['--environment', 'staging', '--copy-variables'],
  },
  {
    what: 'the deployment does not respond',
    code: 8,
    message: 'the deployment did not respond within 5 min: https://shop-42.example/: nothing is listening',
    page: 'down',
  },
  {
    what: 'the deployment responds with 404',
    code: 8,
    message: 'the deployment did not respond within 5 min: https://shop-42.example/: HTTP 404',
    page: { status: 404 },
  },
  {
    what: 'the deployment redirects to a login page',
    code: 0,
    message:
      'the deployment redirects (302) to another origin, https://login.example: if that is a login page, the tests see it as well',
    page: { status: 302, headers: { location: 'https://login.example/?next=/' } },
    ran: true,
  },
  {
    what: 'the service creates no more environments',
    code: 5,
    message: 'the limit of environments is reached',
    faults: [
      always({
        ...{ kind: 'status', status: 422, endpoint: 'env.create' },
        body: { error: 'the limit of environments is reached' },
      }),
    ],
  },
  {
    what: 'the service refuses to delete the environment',
    code: 0,
    message: 'was not deleted: ',
    faults: [always({ kind: 'status', status: 409, endpoint: 'env.delete' })],
    ran: true,
  },
];
