import type { ShellCommand, ShellExample } from './shell-examples.ts';

/** Stands between the outputs of two commands. */
export const mark = '\u001e';

/**
 * After each command: its exit code is what the page says, or the script ends there with 97. `$?` stays what it was.
 * Stopped is what goes on until Ctrl-C: once it has said something, and as a terminal does it.
 */
const prelude = `
expect_code() {
  local code=$?
  printf '\\n%s' "$3"
  [ "$code" -eq "$2" ] || { printf 'line %s: exit code %s, and the page says %s' "$1" "$code" "$2" >&3; exit 97; }
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
 * An example as one bash script, so that what one command sets the next one has.
 * @param stands what placeholders stand for here: an address, a key
 */
export function scriptOf({ commands }: ShellExample, stands: Readonly<Record<string, string>>): string {
  const text = commands.map(checked).join('');
  return prelude + Object.entries(stands).reduce((all, [name, value]) => all.replaceAll(name, value), text);
}
