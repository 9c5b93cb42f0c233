import type { ShellCommand, ShellExample } from './shell-examples.ts';

/** Separates the outputs of two commands. */
export const mark = '\u001e';

/**
 * `expect_code` ends the script with 97 if a command's exit code differs from the page; it does not change `$?`.
 * `until_ctrl_c` sends a command SIGINT after its first output, as a terminal does.
 */
const prelude = `
expect_code() {
  local code=$?
  printf '\\n%s' "$3"
  [ "$code" -eq "$2" ] || { printf 'line %s: exit code %s, but the page says %s' "$1" "$code" "$2" >&3; exit 97; }
  return "$code"
}
until_ctrl_c() {
  set -m
  "$@" > .until-ctrl-c 2>&1 &
  local started=$!
  until [ -s .until-ctrl-c ] || ! kill -0 "$started" 2> /dev/null; do sleep 0.1; done
  sleep 0.3
  kill -INT "$started"
  wait "$started"
  local code=$?
  set +m
  cat .until-ctrl-c
  return "$code"
}
`;

function checked({ line, text, exits, untilStopped }: ShellCommand): string {
  const command = untilStopped ? `until_ctrl_c ${text}` : text;
  return `${command}\nexpect_code ${line} ${untilStopped ? 130 : exits} '${mark}'\n`;
}

/**
 * Returns an example as one bash script, so that later commands see the variables of earlier ones.
 * @param values the values of the placeholders: an address, a key
 */
export function scriptOf({ commands }: ShellExample, values: Readonly<Record<string, string>>): string {
  const text = commands.map(checked).join('');
  return prelude + Object.entries(values).reduce((all, [name, value]) => all.replaceAll(name, value), text);
}
