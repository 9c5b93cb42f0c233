/** The fields of package.json that follow from the address of the repository, in the order in which they are written. */
const names = ['author', 'homepage', 'repository', 'bugs'];

/**
 * Returns the address of the repository, such as `https://<host>/<owner>/rungate`, from the only place where it is set: the
 * field `repository` of package.json, as a URL or an object with one. '' if it is not set.
 * @throws if it is not such an address
 */
export function addressOf({ repository }) {
  const url = typeof repository === 'object' ? repository.url : repository;
  if (url === undefined) return '';
  const address = url.replace(/^git\+/, '').replace(/\.git$/, '');
  if (/^https:\/\/[\w.-]+\/[\w.-]+\/rungate$/.test(address)) return address;
  throw new Error(`package.json: repository is not https://<host>/<owner>/rungate: ${url}`);
}

/** Returns who publishes the repository: the placeholder of the docs until its address is set. */
export const ownerOf = (address) => (address === '' ? 'OWNER' : address.split('/').at(-2));

/** Returns package.json with the fields that follow from its `repository`. */
export function withRepository(manifest) {
  const address = addressOf(manifest);
  const values = {
    author: ownerOf(address),
    homepage: `${address}#readme`,
    repository: { type: 'git', url: `git+${address}.git` },
    bugs: `${address}/issues`,
  };
  const fields = Object.entries(manifest).filter(([name]) => !names.includes(name));
  const place = fields.findIndex(([name]) => name === 'license') + 1;
  const derived = address === '' ? [] : names.map((name) => [name, values[name]]);
  return Object.fromEntries([...fields.slice(0, place), ...derived, ...fields.slice(place)]);
}
