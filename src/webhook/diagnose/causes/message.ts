import { bytes } from '../body.ts';
import type { Row } from './row.ts';

/** The sender built the message or wrote the signature in another way. */
export const messageCauses: readonly Row[] = [
  {
    id: 'boundary_missing',
    sentence: 'signed was timestamp and body without the dot between them',
    remedy: 'the sender must sign <timestamp>.<body>',
    on: 'message',
    build: (timestamp, body) => [timestamp, body],
  },
  {
    id: 'boundary_newline',
    sentence: 'between timestamp and body something else than one dot was signed',
    remedy: 'the sender must sign <timestamp>.<body>',
    on: 'message',
    build: (timestamp, body) => [timestamp, bytes('\n'), body],
  },
  {
    id: 'body_only',
    sentence: 'signed was the body alone, without the timestamp',
    remedy:
      'the sender must sign <timestamp>.<body>: without the timestamp everything can be sent again for ever',
    on: 'message',
    build: (_timestamp, body) => [body],
  },
  {
    id: 'body_first',
    sentence: 'signed was the body before the timestamp',
    remedy: 'the sender must sign <timestamp>.<body>',
    on: 'message',
    build: (timestamp, body) => [body, bytes('.'), timestamp],
  },
  {
    id: 'body_missing',
    sentence: 'signed was the timestamp with an empty body',
    remedy: 'the sender must sign the body that it sends',
    on: 'message',
    build: (timestamp) => [timestamp, bytes('.')],
  },
  {
    id: 'signature_base64',
    sentence: 'the signature is in base64 instead of hex',
    remedy: 'the sender must send sha256= and 64 hex digits',
    on: 'signature',
    decode: (text) => [Buffer.from(text.replace(/^sha256=/i, ''), 'base64')],
  },
  {
    id: 'signature_prefix',
    sentence: 'the signature is not introduced by sha256=',
    remedy: 'give the whole value of the header; the sender must send sha256= and 64 hex digits',
    on: 'signature',
    decode: (text) => [Buffer.from(/(?:^|[=: ])([0-9A-Fa-f]{64})$/.exec(text.trim())?.[1] ?? '', 'hex')],
  },
  {
    id: 'timestamp_refused',
    sentence: 'the signature is right, but the timestamp is no RFC 3339 date-time with a zone',
    remedy:
      'do not accept it: its end and the beginning of the body can change places under one signature; the sender must send a whole timestamp',
    on: 'refused',
  },
];
