// Reads reports as the CI systems do, after the sources of GitHub's runner (ActionCommand.cs, FileCommandManager.cs), Azure's agent
// (Command.cs) and GitLab (parse_dotenv_artifact_service.rb).

export interface Command {
  name: string;
  properties: Record<string, string>;
  data: string;
}

/** Splits text into lines as the runners do with .NET's StreamReader.ReadLine. */
export function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/).filter((line) => line !== '');
}

function decode(text: string, mappings: readonly (readonly [string, string])[]): string {
  return mappings.reduce((plain, [escaped, token]) => plain.replaceAll(escaped, token), text);
}

function propertiesOf(text: string, separator: string, plain: (value: string) => string) {
  const pairs = text.split(separator).flatMap((part) => {
    const at = part.indexOf('=');
    return at > 0 && at < part.length - 1 ? [[part.slice(0, at), plain(part.slice(at + 1))] as const] : [];
  });
  return Object.fromEntries(pairs);
}

const githubData = [
  ['%0D', '\r'],
  ['%0A', '\n'],
  ['%25', '%'],
] as const;
const githubProperty = [
  ['%0D', '\r'],
  ['%0A', '\n'],
  ['%3A', ':'],
  ['%2C', ','],
  ['%25', '%'],
] as const;

/** Parses a line as GitHub's runner does: `::name …::data` at its start, or else `##[name …]data` anywhere in it. */
export function githubCommand(line: string): Command | null {
  const text = line.trimStart();
  const end = text.startsWith('::') ? text.indexOf('::', 2) : -1;
  if (end >= 0) {
    const [name = '', ...rest] = text.slice(2, end).split(' ');
    const properties = propertiesOf(rest.join(' ').trim(), ',', (value) => decode(value, githubProperty));
    return { name, properties, data: decode(text.slice(end + 2), githubData) };
  }
  const old = /##\[([^\]]*)\](.*)/s.exec(text);
  return old === null ? null : { name: `##[${old[1]}]`, properties: {}, data: old[2] ?? '' };
}

/** Parses the file of GITHUB_OUTPUT as GitHub's runner does. @throws if the runner would fail the step */
export function githubFile(text: string): [string, string][] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const outputs: [string, string][] = [];
  while (lines.length > 0) {
    const line = lines.shift() ?? '';
    if (line === '') continue;
    const [equals, heredoc] = [line.indexOf('='), line.indexOf('<<')];
    if (equals >= 0 && (heredoc < 0 || equals < heredoc)) {
      outputs.push([line.slice(0, equals), line.slice(equals + 1)]);
    } else if (heredoc >= 0) {
      const end = lines.indexOf(line.slice(heredoc + 2));
      if (end < 0) throw new Error(`no end: ${line}`);
      outputs.push([
        line.slice(0, heredoc),
        lines
          .splice(0, end + 1)
          .slice(0, -1)
          .join('\n'),
      ]);
    } else throw new Error(`invalid format: ${line}`);
  }
  return outputs;
}

const azureMappings = [
  ['%3B', ';'],
  ['%0D', '\r'],
  ['%0A', '\n'],
  ['%5D', ']'],
  ['%AZP25', '%'],
] as const;

/** Parses a line as Azure's agent does: `##vso[area.event …]data`, anywhere in it. */
export function azureCommand(line: string): Command | null {
  const start = line.indexOf('##vso[');
  const end = start < 0 ? -1 : line.indexOf(']', start);
  if (end < 0) return null;
  const [name = '', ...rest] = line.slice(start + 6, end).split(' ');
  const plain = (value: string) => decode(value, azureMappings);
  return { name, properties: propertiesOf(rest.join(' '), ';', plain), data: plain(line.slice(end + 1)) };
}

/** Parses a dotenv artefact as GitLab does. @throws if GitLab would reject it */
export function gitlabVariables(text: string): [string, string][] {
  if (new TextEncoder().encode(text).length >= 5 * 1024) throw new Error('too big');
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const variables = lines.map((line): [string, string] => {
    const [, key, value] = /^(.*?)=(.*)$/.exec(line) ?? [];
    if (key === undefined || value === undefined) throw new Error(`invalid format: ${line}`);
    if (!/^[A-Za-z_]\w*$/.test(key)) throw new Error(`not the name of a variable: ${key}`);
    return [key.trim(), value.trim()];
  });
  if (variables.length > 20) throw new Error('too many');
  return variables;
}
