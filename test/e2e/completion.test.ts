import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderForTest } from '../folders.ts';
import { isBinary, rungate, shellProgram } from './built.ts';
import { isMissing } from './terminal.ts';

describe.skipIf(isMissing('bash'))('the function that bash calls', () => {
  /** Returns COMPREPLY for a typed line and the words into which bash splits it. */
  function compreply(line: string, words: readonly string[]): string[] {
    const text = `
      rungate() { ${shellProgram} "$@"; }
      eval "$(rungate completion bash)"
      [[ $(complete -p rungate) =~ -F\\ ([^ ]+) ]] && name=\${BASH_REMATCH[1]}
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
});

const hasPowerShell = spawnSync('pwsh', ['-NoProfile', '-Command', 'exit']).status === 0;

it.skipIf(!hasPowerShell || process.platform === 'win32')('completes in PowerShell', () => {
  const folder = folderForTest();
  writeFileSync(join(folder, 'rungate'), `#!/bin/sh\nexec ${shellProgram} "$@"\n`, { mode: 0o755 });
  const text = `
    rungate completion powershell | Out-String | Invoke-Expression
    foreach ($line in 'rungate ru', 'rungate run wait --max-a', 'rungate "run" wait x --format nd', 'rungate --format=nd') {
      [System.Management.Automation.CommandCompletion]::CompleteInput($line, $line.Length, $null).CompletionMatches.CompletionText
    }`;
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  const { stdout } = spawnSync('pwsh', ['-NoProfile', '-Command', text], { encoding: 'utf8', env });
  expect(stdout.split(/\r?\n/).slice(0, -1)).toEqual(['run', '--max-attempts', 'ndjson', '--format=ndjson']);
});

describe('the program that the scripts call', () => {
  it.skipIf(isBinary)('ends even if the DNS look-up of the service is still pending', async () => {
    const folder = folderForTest();
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
    expect(ended).toMatchObject({ code: 0, out: 'words\n', err: 'searching\n' });
  });
});
