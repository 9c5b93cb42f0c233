import type { Layout } from '../json.ts';

/** What went wrong, and what to do about it. `id` is stable. */
export interface Cause {
  id: string;
  sentence: string;
  remedy: string;
}

/** What a cause changed, and how that is undone: every way to what may have been signed. */
export type Undo =
  | { on: 'body'; undo(body: Uint8Array): readonly Uint8Array[]; cheap?: boolean; wraps?: boolean }
  | { on: 'layout'; layout: Layout }
  | { on: 'strings'; styles: readonly ((text: string) => string)[] }
  | { on: 'order' }
  | { on: 'key'; undo(key: string): readonly (string | Uint8Array)[] }
  | { on: 'webhook' }
  | { on: 'old' }
  | { on: 'fraction' }
  | { on: 'zone' }
  | { on: 'lost' }
  | { on: 'timestamp'; undo(text: string, ms: number | null): readonly string[] }
  | { on: 'message'; build(timestamp: Uint8Array, body: Uint8Array): readonly Uint8Array[] }
  | { on: 'signature'; decode(text: string): readonly Uint8Array[] }
  | { on: 'refused' };

export type Row = Cause & Undo;
