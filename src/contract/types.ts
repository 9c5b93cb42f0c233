import type { RunStatus } from './service-types.ts';

/**
 * A list, or one page of it: `items`, whatever their shape and name in the response, and its other fields, unchanged. The
 * fields declared here are those that the service documents; `page` counts from 1.
 */
export interface Page<Item> {
  items: Item[];
  totalCount?: number | null | undefined;
  page?: number | null | undefined;
  pageSize?: number | null | undefined;
  totalPages?: number | null | undefined;
  hasNextPage?: boolean | null | undefined;
  hasPreviousPage?: boolean | null | undefined;
  [field: string]: unknown;
}

/** A body that the API does not describe: an object with any fields. */
export interface Fields {
  [field: string]: unknown;
}

/** The content of a file. A `Blob` has a media type; a `File` also has a name. */
export type FileContent = ArrayBufferView | ArrayBuffer | Blob;

/** A file, with the name and media type to send. Default: those of the file. */
export interface FileUpload {
  file: FileContent;
  name?: string | undefined;
  type?: string | undefined;
}

/** The status of a run that has ended. The client refuses one without both counts. */
export interface EndedRunStatus extends RunStatus {
  state: 'completed' | 'cancelled';
  failed: number;
  blocked: number;
}

/**
 * The status of a run that has not ended. A state that the API does not list is also such a status. The type omits
 * these states, so that a comparison with `completed` distinguishes the two types.
 */
export interface PendingRunStatus extends RunStatus {
  state: 'in_progress';
}
