/*
 * These addresses may contain credentials, and a password may contain any character. An address is therefore used only if its
 * single `@` is in front of its host: otherwise, what looks like its path could be half a password.
 */

interface Remote {
  host: string;
  path: string;
}

function remoteUrl(text: string): Remote | null {
  const [, authority, rest] =
    /^(?:https?|ssh|git|git\+ssh|git\+https?|ssh\+git):\/\/([^/?#]*)(.*)$/is.exec(text) ?? [];
  if (authority === undefined || rest === undefined || rest.includes('@')) return null;
  const place = authority.slice(authority.lastIndexOf('@') + 1);
  const [, host, port] = /^([\w.-]+|\[[\da-f:.]+\])(?::([^:]*))?$/i.exec(place) ?? [];
  if (host === undefined) return null;
  const path = rest.replace(/[?#].*$/s, '');
  // ssh://git@host:owner/name is not a valid URL but is common: its "port" is the start of the path.
  const begin = port === undefined || /^\d*$/.test(port) ? '' : `/${port}`;
  return { host: host.toLowerCase(), path: begin + path };
}

/** Parses `git@host:owner/name`, the syntax of scp. A drive letter is not a host. */
function scpLike(text: string): Remote | null {
  if (text.includes('://')) return null;
  const [, host, path] = /^(?:[^/@:]+@)?([\w.-]{2,}|\[[\da-f:.]+\]):(.+)$/is.exec(text) ?? [];
  return host === undefined || path === undefined ? null : { host: host.toLowerCase(), path };
}

/** Returns the parts of a path, decoded and without `.git`; null if one of them cannot be part of a name. */
function segmentsOf(path: string): string[] | null {
  let segments: string[];
  try {
    segments = path
      .split('/')
      .filter((part) => part !== '')
      .map((part) => decodeURIComponent(part).trim());
  } catch {
    return null;
  }
  const last = segments.pop()?.replace(/\.git$/i, '');
  if (last === undefined) return null;
  segments.push(last);
  const isName = (part: string) =>
    !/^\.{0,2}$/.test(part) && !/[@:\\/?#"<>|*\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(part);
  return segments.every(isName) ? segments : null;
}

function nameOf(segments: readonly string[]): string | null {
  const name = segments.join('/');
  return segments.length >= 2 && name.length <= 500 ? name : null;
}

const azureHost = /(^|\.)(dev\.azure|visualstudio)\.com$/;

/**
 * Returns the name of a repository in Azure DevOps: `org/project/repo` from `dev.azure.com/org/project/_git/repo`, from
 * `org.visualstudio.com/project/…`, and from `v3/org/project/repo` over ssh. The address may leave out a project that has the
 * name of its repository.
 */
function azureName(host: string, segments: readonly string[]): string | null {
  if (segments[0] === 'v3' && segments.length === 4) return nameOf(segments.slice(1));
  const [, old] = /^(.+)\.visualstudio\.com$/.exec(host) ?? [];
  const path = old !== undefined && segments[0] === 'DefaultCollection' ? segments.slice(1) : segments;
  const parts = [...(old === undefined ? [] : [old]), ...path];
  const mark = parts.indexOf('_git');
  if (mark < 0) return nameOf(parts);
  const [place, repository] = [parts.slice(0, mark), parts.slice(mark + 1)];
  const isShort = place.length === 1 && azureHost.test(host);
  return nameOf([...place, ...(isShort ? repository : []), ...repository]);
}

function remoteOf(text: string): Remote | null {
  return text.includes('\\') ? null : (remoteUrl(text) ?? scpLike(text));
}

/**
 * Returns `owner/name` of a remote, with all its groups in front and without host, port, credentials and `.git`. Returns null
 * for a remote without an owner, such as a folder, a bundle or a file.
 */
export function repositoryOfRemote(text: string | null): string | null {
  const remote = text === null ? null : remoteOf(text);
  const segments = remote === null ? null : segmentsOf(remote.path);
  if (remote === null || segments === null) return null;
  const { host } = remote;
  if (segments.includes('_git') || azureHost.test(host)) return azureName(host, segments);
  // Bitbucket Data Center puts /scm/ in front over HTTP but not over ssh.
  return nameOf(segments.at(-3)?.toLowerCase() === 'scm' ? segments.slice(-2) : segments);
}

/** Returns `owner/name`, from a text of this form or from a remote's URL. */
export function repositoryOf(text: string | null): string | null {
  const remote = repositoryOfRemote(text);
  if (text === null || remote !== null || /^[/.~]|[:\\]/.test(text)) return remote;
  const segments = segmentsOf(text);
  return segments === null ? null : nameOf(segments);
}

/** Hosts that serve the repositories of another host over ssh. */
const sshHosts = new Map([
  ['ssh.github.com', 'github.com'],
  ['altssh.gitlab.com', 'gitlab.com'],
  ['altssh.bitbucket.org', 'bitbucket.org'],
]);

/** Returns the canonical host of a remote; null for `owner/name` alone. */
function hostOf(text: string): string | null {
  const host = remoteOf(text)?.host.replace(/\.$/, '') ?? null;
  if (host === null) return null;
  return azureHost.test(host) ? 'dev.azure.com' : (sshHosts.get(host) ?? host);
}

/**
 * Returns whether two texts name the same repository, each as a remote's URL of any kind or as `owner/name`. Case does not
 * matter, as on all forges; nor do ports and credentials. Texts that do not name a repository are compared literally.
 */
export function isSameRepository(a: string, b: string): boolean {
  const [nameA, nameB] = [repositoryOf(a), repositoryOf(b)];
  if (nameA === null || nameB === null) return a === b;
  const [hostA, hostB] = [hostOf(a), hostOf(b)];
  const lower = (name: string) => name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return lower(nameA) === lower(nameB) && (hostA === null || hostB === null || hostA === hostB);
}

/** Names of parameters that carry credentials. */
const secret = /token|secret|passw|signature|credential|api_?key/i;

/** Returns a web address without its credentials; null for any other text. */
export function webUrl(text: string | null): string | null {
  const [, authority, rest] = /^https?:\/\/([^/?#\\]*)(.*)$/is.exec(text ?? '') ?? [];
  if (text === null || authority === undefined || rest?.includes('@')) return null;
  try {
    const url = new URL(text);
    url.username = '';
    url.password = '';
    for (const name of [...url.searchParams.keys()]) if (secret.test(name)) url.searchParams.delete(name);
    return url.href;
  } catch {
    return null;
  }
}

/** Returns the address of a page below a base address, with each part escaped; null if a part is missing. */
export function page(base: string | null, ...parts: readonly (string | null)[]): string | null {
  if (base === null || parts.some((part) => part === null)) return null;
  const path = parts.map((part) => (part ?? '').split('/').map(encodeURIComponent).join('/'));
  return webUrl([base.replace(/(?<!\/)\/+$/, ''), ...path].join('/'));
}
