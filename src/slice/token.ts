import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { SavedGates } from './state.ts';

/** The version of the format. A token of another one is refused, as an edited one is. */
const format = '1';

const checkOf = (payload: string) =>
  createHash('sha256').update(`rungate slice ${format}\n${payload}`).digest('base64url').slice(0, 12);

/** The texts that most states have, so that a token is about half as long. Another dictionary is another format. */
const dictionary = Buffer.from(
  '"commitSha":"","ref":"refs/heads/main","environmentKey":"","tags":[""],"repository":"https://' +
    '"failed":[{"runId":"","name":"","project":"","process":"","tags":null,"state":"completed","verdict":"failed","action":"fail",' +
    '"elapsedSeconds":"idempotencyKey":"","ended":{"result":"pass","exitCode":0,"needs":[],"advisory":false,"reason":null,"runs":[' +
    '{"id":"","request":"","startedAt":17,"endsAt":17,"gates":{"":{"body":{"projectSlug":"","processSlug":""},"keys":[{"key":"",' +
    '"origin":"user","run":{"runId":"run_","appUrl":"https://app.","reattached":false,"startedAt":17,"attempts":1}}],' +
    '"begunAt":17,"failed":[],"discarded":[],"doubt":false}}}',
);

/** Returns the state as one word for a command line. */
export function tokenOf(state: SavedGates): string {
  const payload = deflateRawSync(JSON.stringify(state), { level: 9, dictionary }).toString('base64url');
  return `${format}.${payload}.${checkOf(payload)}`;
}

/** Returns the state in a token, or null if the token was not made by `tokenOf`, or has been changed. */
export function readToken(token: string): SavedGates | null {
  const [version, payload = '', check, ...others] = token.split('.');
  if (version !== format || check !== checkOf(payload) || others.length > 0) return null;
  return JSON.parse(
    inflateRawSync(Buffer.from(payload, 'base64url'), { dictionary }).toString(),
  ) as SavedGates;
}
