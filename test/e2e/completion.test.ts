import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isBinary, rungate, shellProgram } from './built.ts';
import { isMissing } from './terminal.ts';

describe.skipIf(isMissing('bash'))('the function that bash calls', () => {
  /** Returns COMPREPLY for a typed line and the words into which bash splits it. */
  function compreply(line: string, words: readonly string[], rest = ''): string[] {
    const text = `
      rungate() { ${shellProgram} "$@"; }
      eval "$(rungate completion bash)"
      [[ $(complete -p rungate) =~ -F\\ ([^ ]+) ]] && name=\${BASH_REMATCH[1]}
      ${rest}
      COMP_LINE=$1 COMP_POINT=\${#1}; shift
      COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
      "$name" rungate "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD-1]}"
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = spawnSync('bash', ['--norc', '-c', text, 'bash', line, ...words], {
      encoding: 'utf8',
    });
    return stdout.split('\n').filter((one) => one !== '');
  }

  it('fills COMPREPLY with the text after the last word break', () => {
    expect(compreply('rungate run t', ['rungate', 'run', 't'])).toEqual(['trigger']);
    expect(compreply('rungate --format=', ['rungate', '--format', '='])).toEqual(['table', 'json', 'ndjson']);
    const scopes = ['rungate', 'keys', 'create', '--scope', 'runner', ':', ''];
    expect(compreply('rungate keys create --scope runner:', scopes)).toEqual(['manage']);
  });

  it('passes the rest to the completion of another command, even to one that is loaded on demand', () => {
    const words = ['rungate', 'mock', 'exec', '--', 'other', '--x', '=', 'y'];
    const own = '_other() { COMPREPLY=("$COMP_LINE|$COMP_POINT|$COMP_CWORD|$1|$2|$3|${COMP_WORDS[*]}"); };';
    const expected = ['other --x=y|11|3|other|y|=|other --x = y'];
    const line = 'rungate mock exec -- other --x=y';
    expect(compreply(line, words, `${own} complete -F _other other`)).toEqual(expected);
    const loader = '_load() { complete -F _other "$1"; return 124; }; complete -D -F _load';
    expect(compreply(line, words, `${own} ${loader}`)).toEqual(expected);
  });
});

describe('the program that the scripts call', () => {
  it.skipIf(isBinary)('ends even if the DNS look-up of the service is still pending', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rungate-completion-'));
    // A DNS look-up cannot be cancelled and keeps the process alive, here for ten minutes.
    const slow = `import dns from 'node:dns';
      dns.lookup = () => { console.error('searching'); setTimeout(() => {}, 600_000); };`;
    const running = rungate(
      ['completion', '--complete', 'zsh', '--', 'run', 'trigger', '--environment', ''],
      {
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(slow)}`,
        RUNGATE_API_URL: 'https://service.example.test',
        RUNGATE_TOKEN: 'token',
        RUNGATE_CONFIG_DIR: folder,
      },
    );
    const ended = await running.ended;
    rmSync(folder, { recursive: true });
    expect(ended).toMatchObject({ code: 0, out: 'words\n', err: 'searching\n' });
  });
});
