/*
 * These addresses may contain credentials, and a password may contain any character. An address is therefore used only if its
 * single `@` is in front of its host: otherwise, what looks like its path could be half a password.
 */

interface Remote {
  readonly host: string;
  /** `owner/name` with all groups in front; null if the remote has no owner. */
  readonly name: string | null;
}

// ssh://git@host:owner/name is not a valid URL but is common: its "port" is the start of the path.
const url =
  /^(?:https?|ssh|git|git\+ssh|git\+https?|ssh\+git):\/\/(?:[^/?#]*@)?([\w.-]+|\[[\da-f:.]+\])(?::\d*(?![^/?#])|:|(?=[/?#]|$))([^@?#]*)(?:[?#][^@]*)?$/is;
/** `git@host:owner/name`, the syntax of scp. A drive letter is not a host. */
const scp = /^(?!.*:\/\/)(?!\w:)(?:[^/@:]+@)?([\w.-]+|\[[\da-f:.]+\]):(.+)$/is;

function remoteOf(text: string): Remote | null {
  const [, place = '', path] = (text.includes('\\') ? null : (url.exec(text) ?? scp.exec(text))) ?? [];
  const segments = path === undefined ? null : segmentsOf(path);
  if (segments === null) return null;
  const own = place.toLowerCase();
  return { host: canonical(own), name: nameOf(placed(own, segments)) };
}

/** Hosts that serve the repositories of another host over ssh. */
const sshHosts = new Map([
  ['ssh.github.com', 'github.com'],
  ['altssh.gitlab.com', 'gitlab.com'],
  ['altssh.bitbucket.org', 'bitbucket.org'],
]);

const azureHost = /(^|\.)(dev\.azure|visualstudio)\.com$/;

function canonical(place: string): string {
  const plain = place.replace(/\.$/, '');
  return azureHost.test(plain) ? 'dev.azure.com' : (sshHosts.get(plain) ?? plain);
}

/** Returns the parts of a path, decoded and without `.git`; null if one of them cannot be part of a name. */
function segmentsOf(path: string): string[] | null {
  try {
    const parts = path.split('/').filter((part) => part !== '');
    const segments = parts.map((part, at) => {
      const name = decodeURIComponent(part).trim();
      return at === parts.length - 1 ? name.replace(/\.git$/i, '') : name;
    });
    const isName = (part: string) =>
      !/^\.{0,2}$/.test(part) && !/[@:\\/?#"<>|*\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(part);
    return segments.every(isName) ? segments : null;
  } catch {
    return null;
  }
}

function nameOf(segments: readonly string[]): string | null {
  const name = segments.join('/');
  return segments.length >= 2 && name.length <= 500 ? name : null;
}

/**
 * Returns the parts of a name. In Azure DevOps they are `org/project/repo`, from `dev.azure.com/org/project/_git/repo`, from
 * `org.visualstudio.com/project/…`, and from `v3/org/project/repo` over ssh. The address may leave out a project that has the name
 * of its repository.
 */
function placed(place: string, segments: readonly string[]): readonly string[] {
  const isAzure = azureHost.test(place);
  if (isAzure && segments[0] === 'v3' && segments.length === 4) return segments.slice(1);
  const [, old] = /^(.+)\.visualstudio\.com$/.exec(place) ?? [];
  const rest = old !== undefined && segments[0] === 'DefaultCollection' ? segments.slice(1) : segments;
  const parts = old === undefined ? rest : [old, ...rest];
  const mark = parts.indexOf('_git');
  if (mark >= 0) {
    const [project, repository] = [parts.slice(0, mark), parts.slice(mark + 1)];
    const isShort = project.length === 1 && isAzure;
    return [...project, ...(isShort ? repository : []), ...repository];
  }
  // Bitbucket Data Center puts /scm/ in front over HTTP but not over ssh.
  return !isAzure && parts.at(-3)?.toLowerCase() === 'scm' ? parts.slice(-2) : parts;
}

/**
 * Returns `owner/name` of a remote, with all its groups in front and without host, port, credentials and `.git`. Returns null
 * for a remote without an owner, such as a folder, a bundle or a file.
 */
export function repositoryOfRemote(text: string | null): string | null {
  return text === null ? null : (remoteOf(text)?.name ?? null);
}

/** Returns the canonical host of a remote; null for `owner/name` alone. */
export function hostOf(text: string): string | null {
  return remoteOf(text)?.host ?? null;
}

/** Returns `owner/name`, from a text of this form or from a remote's URL. */
export function repositoryOf(text: string | null): string | null {
  const remote = repositoryOfRemote(text);
  if (text === null || remote !== null || /^[/.~]|[:\\]/.test(text)) return remote;
  return nameOf(segmentsOf(text) ?? []);
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
  const [, rest] = /^https?:\/\/[^/?#\\]*(.*)$/is.exec(text ?? '') ?? [];
  if (rest === undefined || rest.includes('@') || !URL.canParse(text ?? '')) return null;
  const address = new URL(text ?? '');
  address.username = '';
  address.password = '';
  for (const name of [...address.searchParams.keys()])
    if (secret.test(name)) address.searchParams.delete(name);
  return address.href;
}

/** Returns the address of a page below a base address, with each part escaped; null if a part is missing. */
export function page(base: string | null, ...parts: readonly (string | null)[]): string | null {
  if (base === null || parts.includes(null)) return null;
  const path = parts.map((part) => (part ?? '').split('/').map(encodeURIComponent).join('/'));
  return webUrl([base.replace(/(?<!\/)\/+$/, ''), ...path].join('/'));
}
