import type { RunStatus } from './service-types.ts';

/**
 * A list, or one page of it: `items`, whatever their shape and name in the response, and its other fields, unchanged. The
 * fields declared here are those that the service documents; `page` counts from 1.
 */
export interface Page<Item> {
  /** The items of the page, or of the whole list. */
  items: Item[];
  /** The number of items on all pages. */
  totalCount?: number | null | undefined;
  /** The number of this page, from 1. */
  page?: number | null | undefined;
  /** The maximum number of items on a page. */
  pageSize?: number | null | undefined;
  /** The number of pages. */
  totalPages?: number | null | undefined;
  /** Whether there is a page after this one. */
  hasNextPage?: boolean | null | undefined;
  /** Whether there is a page before this one. */
  hasPreviousPage?: boolean | null | undefined;
}

/** An object that the API does not describe: any fields. */
export interface Fields {
  [field: string]: unknown;
}

/** The content of a file. A `Blob` has a media type; a `File` also has a name. */
export type FileContent = ArrayBufferView | ArrayBuffer | Blob;

/** A file, with the name and media type to send. Default: those of the file. */
export interface FileUpload {
  /** The content. */
  file: FileContent;
  /** The name to send. */
  name?: string | undefined;
  /** The media type to send. */
  type?: string | undefined;
}

/** The status of a run that has ended. The client refuses one without both counts. */
export interface EndedRunStatus extends RunStatus {
  /** How it ended. */
  state: 'completed' | 'cancelled';
  /** The number of failed items. */
  failed: number;
  /** The number of blocked items. */
  blocked: number;
}

/**
 * The status of a run that has not ended. A state that the API does not list is also such a status. The type omits
 * these states, so that a comparison with `completed` distinguishes the two types.
 */
export interface PendingRunStatus extends RunStatus {
  /** Any state but `completed` and `cancelled`. */
  state: 'in_progress';
}
