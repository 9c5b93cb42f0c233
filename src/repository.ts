import { version } from './version.ts';

/** The URL of the repository, from package.json; '' until its owner sets it. */
const repository: string = '';

/** The container image of this version; undefined until the URL of the repository is set. */
export const image =
  repository === '' ? undefined : `ghcr.io/${repository.split('/').at(-2)?.toLowerCase()}/rungate:${version}`;

/** Returns where to read a page of the docs: its URL, or its path in the repository. */
export const docsPage = (path: string): string =>
  repository === '' ? `${path} in the repository of rungate` : `${repository}/blob/v${version}/${path}`;
