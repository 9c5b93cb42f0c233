import { createHash, createHmac } from 'node:crypto';
import type { CiContext } from '../../ci/context.ts';
import type { TriggerBody } from '../../contract/run.ts';
import { ConfigError, RungateError } from '../../errors.ts';
import type { DetachedNames } from '../../gate/detached/entry.ts';
import type { SavedPlan } from '../../gate/plan/saved.ts';
import type { Io } from '../../host/io.ts';
import type { Flags } from '../../options/table.ts';
import { findRoot, slicesPath } from '../../settings/locate.ts';
import type { Settings } from '../../settings/names.ts';

/** The settings of a gate without its secrets, and the ids of those that are read again from where they are set. */
export interface SavedSettings {
  values: Settings;
  withheld: readonly string[];
}

/** The options and settings of the first command of a gate. */
interface SavedCommand {
  /** Its working directory, from which paths in its options begin. */
  cwd: string;
  flags: Flags;
  settings: SavedSettings;
  gates: Record<
    string,
    {
      needs: readonly string[];
      advisory: boolean;
      settings: SavedSettings;
      /** The body without the environment of a preview. */
      body?: TriggerBody | undefined;
    }
  >;
}

/** A gate in the store: its progress, and everything that `--resume` needs. It has no secret. */
export interface StoredGate extends SavedPlan {
  /** A hash of the folder and the CI job of its commands. */
  location: string;
  apiUrl: string;
  /** An HMAC of the API key under the salt of the file. */
  account: string;
  /** A hash of the location, the address, the bodies and the build; empty once a newer gate has the same. */
  identity: string;
  /** A hash of the policies, limits and retries. */
  rules: string;
  command: SavedCommand;
}

/** A type, since an interface has no index signature. */
export type Stored = {
  version: typeof format;
  salt: string;
  /** By their ids. */
  gates: Record<string, StoredGate>;
};

/** A gate that a command goes on with. */
export interface ResumedGate {
  stored: Stored;
  gate: StoredGate;
  /** Set for a gate that the hub keeps. */
  detached?: DetachedNames & { overdue: boolean };
  /** How long the job waits for the end of its runs, in milliseconds. */
  waitMs?: number;
}

/** A gate that has ended stays for a day, so that its id can be used again. */
const keptMs = 24 * 60 * 60_000;
const format = 2 as const;

export const hashOf = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);

/** Returns a hash of where a command runs. A CI job does not go on with the gate of another job, or of itself before its re-run. */
export function locationOf(io: Io, ci: CiContext): string {
  const { runId, job, attempt, jobId, matrix, parallelIndex } = ci;
  const folder = findRoot(io.cwd, io.exists) ?? io.cwd;
  return hashOf(folder, runId, job, attempt, jobId, matrix, parallelIndex);
}

export const accountOf = ({ salt }: Stored, { apiKey }: Settings): string =>
  createHmac('sha256', salt)
    .update(apiKey?.value ?? '')
    .digest('base64url');

/** @throws ConfigError if the gate was begun with another API key */
export function checkAccount(stored: Stored, { id, account }: StoredGate, settings: Settings): void {
  if (account === accountOf(stored, settings)) return;
  throw new ConfigError(`gate ${id} was started with another API key`, {
    hint: 'use that key, or start another gate with --new',
  });
}

/** The state cannot be written, or not any more. */
export class UnwritableError extends ConfigError {
  static override readonly name = 'ConfigError';
}

export const emptyState = (): Stored => ({ version: format, salt: crypto.randomUUID(), gates: {} });

export const stateText = (stored: Stored): string =>
  `${JSON.stringify({ ...stored, check: hashOf(stored) })}\n`;

/** @throws if a part was changed or lost, or another version of rungate wrote it */
export function parseState(text: string): Stored {
  const stored = Object(JSON.parse(text)) as Stored;
  // The gates of an older build have another shape, so this one does not know them.
  if (Number(stored.version) === 1) return emptyState();
  const { check, ...own } = stored as Stored & { check?: string };
  // Nobody but rungate writes the file: a part of it that was changed or lost is not a state.
  if (stored.version === format && check === hashOf(own)) return own;
  throw Object.assign(new Error(), { code: 'not a file of this version of rungate' });
}

/** The gates that go on, or have ended: in the folder of the CI job, or else of the user. @throws ConfigError from all functions */
export function openStore(io: Io, { temporaryFolder }: CiContext) {
  const path = slicesPath(io, temporaryFolder);
  if (path === null)
    throw new ConfigError(
      'there is no folder for the state of the gate: HOME and RUNGATE_CONFIG_DIR are not set',
      {
        hint: 'set RUNGATE_CONFIG_DIR to a folder that only you can read, or leave out --slice',
      },
    );
  const file = io.stateFile(path);
  const unusable = (what: string, cause: unknown, Problem = ConfigError) => {
    if (cause instanceof RungateError) return cause;
    const { code = 'not JSON' } = cause as NodeJS.ErrnoException;
    return new Problem(`the state of the gate cannot be ${what}: ${path} (${code})`, {
      hint: 'correct or remove the file, or set RUNGATE_CONFIG_DIR to another folder that only you can read',
      cause,
    });
  };
  const kept = (stored: Stored): Stored => {
    const recent = Object.entries(stored.gates).filter(([, { endsAt }]) => endsAt > io.clock.now() - keptMs);
    return { ...stored, gates: Object.fromEntries(recent) };
  };
  return {
    /** Returns null if there is no file. */
    read(): Stored | null {
      try {
        const state = file.read();
        if (state === null) return null;
        // Windows has no file modes.
        if (state.foreign === true || (state.exposed && io.platform !== 'win32'))
          throw Object.assign(new Error(), { code: 'other users may read or write it' });
        return kept(parseState(state.text));
      } catch (cause) {
        throw unusable('read', cause);
      }
    },
    /** Calls `edit` under the lock of the file. @throws the errors of `edit`, too */
    async change(edit: (stored: Stored) => void): Promise<void> {
      try {
        await file.change({ parse: parseState, write: stateText }, (data) => {
          const stored = 'gates' in data ? kept(data) : emptyState();
          edit(stored);
          return stored;
        });
      } catch (cause) {
        throw unusable('written', cause, UnwritableError);
      }
    },
  };
}

export type Store = ReturnType<typeof openStore>;
