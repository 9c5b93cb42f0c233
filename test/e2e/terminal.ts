import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../until.ts';
import { shellProgram } from './built.ts';

export type Shell = 'bash' | 'zsh' | 'fish';

/** Set by `.ci/run`, which installs the shells and other tools, so that no test is skipped. */
const required = process.env.REQUIRE_TOOLS !== undefined;

/** Whether `script` of util-linux is available, which gives each shell its own terminal. */
const hasTerminal = /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '');

/** Whether to skip the tests of a shell because it is not installed; under `.ci/run` they fail instead. */
export function isMissing(shell: Shell): boolean {
  return !required && (!hasTerminal || spawnSync(shell, ['--version']).status !== 0);
}

/** The configuration of each shell, and the command that starts it. Ctrl-X Ctrl-P writes the current line to a file. */
const setups: Readonly<
  Record<Shell, { file: string; command: (folder: string) => string; text: (folder: string) => string }>
> = {
  bash: {
    file: '.bashrc',
    command: (folder) => `bash --noprofile --rcfile ${folder}/.bashrc -i`,
    text: (folder) => String.raw`
PS1='READY> '
unset HISTFILE
bind 'set bell-style none'
bind 'set page-completions off'
eval "$(rungate completion bash)"
__written() { printf '%s' "$READLINE_LINE" >${folder}/draft; mv ${folder}/draft ${folder}/line; }
bind -x '"\C-x\C-p": __written'
`,
  },
  zsh: {
    file: '.zshrc',
    command: () => 'zsh -i',
    text: (folder) => `
PS1='READY> '
unsetopt zle_bracketed_paste beep
eval "$(rungate completion zsh)"
written() { print -rn -- "$BUFFER" >${folder}/draft; mv ${folder}/draft ${folder}/line }
zle -N written
bindkey -e
bindkey '^X^P' written
`,
  },
  fish: {
    file: '.config/fish/config.fish',
    command: () => 'fish --private -i',
    text: (folder) => String.raw`
function fish_prompt
    echo -n 'READY> '
end
function fish_greeting
end
rungate completion fish | source
function written
    commandline >${folder}/draft
    mv ${folder}/draft ${folder}/line
end
bind \cx\cp written
`,
  },
};

export interface Terminal {
  /** The home and working directory of the shell. */
  readonly folder: string;
  /** Types, and returns the resulting line. `\t` is the TAB key. */
  type(keys: string): Promise<string>;
  /** Types, presses Enter, and returns the arguments of the started program. */
  run(keys: string): Promise<string[]>;
  /** Types, waits until the terminal has shown all the texts, and returns its output since then. */
  press(keys: string, expected: readonly string[]): Promise<string>;
  /** Everything the terminal has shown. */
  shown(): string;
  close(): Promise<void>;
}

/** Starts an interactive shell in a terminal, with the script of `rungate completion`. */
export async function openTerminal(
  shell: Shell,
  env: Readonly<Record<string, string>> = {},
): Promise<Terminal> {
  const folder = mkdtempSync(join(tmpdir(), `rungate-${shell}-`));
  const setup = setups[shell];
  mkdirSync(join(folder, '.config/fish'), { recursive: true });
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, setup.file), setup.text(folder));
  const program = join(folder, 'bin/rungate');
  const args = join(folder, 'args');
  writeFileSync(
    program,
    `#!/bin/sh
[ "$1" = completion ] && exec ${shellProgram} "$@"
printf '%s\\n' "$@" >'${args}.draft'
mv '${args}.draft' '${args}'
`,
  );
  chmodSync(program, 0o755);
  const child: ChildProcess = spawn('script', ['-qefc', setup.command(folder), '/dev/null'], {
    cwd: folder,
    detached: true,
    env: {
      PATH: `${folder}/bin:${process.env.PATH}`,
      HOME: folder,
      ZDOTDIR: folder,
      TERM: 'xterm',
      LANG: 'C.UTF-8',
      LC_ALL: 'C.UTF-8',
      COLUMNS: '120',
      ...env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let shown = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
    });
  }
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  const line = join(folder, 'line');
  await until(() => shown.includes('READY> '));
  async function type(keys: string): Promise<string> {
    rmSync(line, { force: true });
    // Ctrl-E Ctrl-U clears the line.
    child.stdin?.write(`\u0005\u0015${keys}\u0018\u0010`);
    await until(() => existsSync(line));
    return readFileSync(line, 'utf8').replace(/\n$/, '');
  }

  return {
    folder,
    type,
    async press(keys, expected) {
      await type('');
      const before = shown.length;
      child.stdin?.write(keys);
      await until(() => expected.every((text) => shown.slice(before).includes(text)));
      return shown.slice(before);
    },
    async run(keys) {
      await type(keys);
      rmSync(args, { force: true });
      child.stdin?.write('\r');
      await until(() => existsSync(args));
      // Input that arrives before the shell reads again is ignored, so type until it responds.
      rmSync(line, { force: true });
      await until(() => {
        if (existsSync(line)) return true;
        child.stdin?.write('\u0018\u0010');
        return false;
      });
      // The shell still handles what was typed until then: it must not be taken for the next line.
      child.stdin?.write('#\u0018\u0010');
      await until(() => readFileSync(line, 'utf8').startsWith('#'));
      return readFileSync(args, 'utf8').split('\n').slice(0, -1);
    },
    shown: () => shown,
    async close() {
      // Kills the process group, which is the whole session.
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
