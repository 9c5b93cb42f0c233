import { ConfigError, UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import type { Io } from '../../host/io.ts';
import { createKeys } from '../../receipt/keys.ts';
import { filled } from '../options.ts';
import { warnOfFolder } from '../secret-files.ts';
import { command } from '../spec.ts';

function writeKeys(io: Io, prefix: string, keys: { privatePem: string; publicPem: string }): void {
  const secret = io.createSecretFile(`${prefix}.key`);
  try {
    io.writeNewFile(`${prefix}.pub`, new TextEncoder().encode(keys.publicPem));
    secret.write(keys.privatePem);
  } finally {
    secret.close();
  }
}

export const receiptKeygen = command({
  name: 'keygen',
  summary: 'create a key pair for receipts',
  description:
    'Create an Ed25519 key pair: <prefix>.key, which signs receipts and stays secret, and <prefix>.pub, which verifies them. Never overwrites a file.',
  args: { '<prefix>': 'path of both files, without .key or .pub' },
  examples: ['rungate receipt keygen ci-receipts'],
  async run(context, { prefix }) {
    const { io, output } = context;
    filled('<prefix>', prefix);
    const [keyFile, publicKeyFile] = [`${prefix}.key`, `${prefix}.pub`];
    const keys = createKeys();
    try {
      writeKeys(io, prefix, keys);
    } catch (cause) {
      const { code = 'unknown' } = cause as NodeJS.ErrnoException;
      if (code === 'EEXIST')
        throw new UsageError(`${keyFile} or ${publicKeyFile} exists, and rungate does not overwrite keys`, {
          hint: 'choose another prefix, or move the old files away; receipts that the old key signed still need its .pub',
          cause,
        });
      throw new ConfigError(`the keys cannot be written: ${keyFile} (${code})`, {
        hint: 'choose a prefix in a folder that exists and that you may write to',
        cause,
      });
    }
    const data = { schemaVersion: 1, keyFile, publicKeyFile, keyId: keys.id };
    await output.data(data, {
      head: ['FIELD', 'VALUE'],
      rows: [
        ['key', output.excerpt(keyFile, 1000)],
        ['public key', output.excerpt(publicKeyFile, 1000)],
        ['key id', keys.id],
      ],
    });
    await warnOfFolder(context, keyFile);
    for (const line of [
      `save the content of ${output.excerpt(keyFile)} as the secret RUNGATE_RECEIPT_KEY of your CI, then delete the file`,
      `commit ${output.excerpt(publicKeyFile)}, or give it to every job that verifies receipts`,
      'write a receipt: rungate gate --receipt receipt.json',
      `verify it: rungate receipt verify receipt.json --key ${output.excerpt(publicKeyFile)} --commit <sha>`,
    ])
      await output.note(`${output.paint('dim', '→')} ${line}`);
    return exitCodes.ok;
  },
});
