import type { Command } from 'commander';
import { type Bind, examples } from '../binding.ts';
import { collect, once } from '../options.ts';
import { addDemands } from './demands.ts';
import { keygenCommand } from './keygen.ts';
import { showCommand } from './show.ts';
import { type VerifyFlags, verifyReceiptCommand } from './verify.ts';

function defineVerify(group: Command, bind: Bind): void {
  const command = group
    .command('verify')
    .summary('verify receipts against a key and a commit or an image')
    .description(
      'Verify receipts: exit 0 if a trusted key signed each one, its runs passed and it has the expected facts, 1 if not. Works offline.',
    )
    .argument('<file...>', 'receipt, folder with receipts (*.json), or - for standard input')
    .optionsGroup('Options:')
    .option('--commit <sha>', 'the commit that must have been tested, in full', once('--commit'))
    .option(
      '--subject <name@sha256:hex>',
      'image or file that must have been tested; sha256:<hex> for any name (repeatable)',
      collect,
    )
    .option('--subject-file <file>', 'file that must have been tested, by its content (repeatable)', collect)
    .option(
      '--policy <file>',
      'JSON file with the demands below, which options cannot change',
      once('--policy'),
    );
  addDemands(command);
  examples(
    command,
    'rungate receipt verify receipt.json --key ci.pub --commit "$GITHUB_SHA"',
    'rungate receipt verify receipt.json --policy receipt-policy.json \\\n    --subject "$IMAGE@$DIGEST"',
    'rungate receipt verify receipts/ --gate web --gate api \\\n    --key ci.pub --commit "$GITHUB_SHA"',
  );
  bind(command, {
    decides: true,
    run: (context, [files], flags: VerifyFlags) => verifyReceiptCommand(context, files as string[], flags),
  });
}

export function defineReceipt(group: Command, bind: Bind): void {
  const keygen = group
    .command('keygen')
    .summary('create a pair of keys for receipts')
    .description(
      'Create a pair of Ed25519 keys: <prefix>.key, which signs receipts and stays secret, and <prefix>.pub, which verifies them. Never overwrites a file.',
    )
    .argument('<prefix>', 'path of the files without .key and .pub');
  examples(keygen, 'rungate receipt keygen ci-receipts');
  bind(keygen, { run: (context, [prefix]) => keygenCommand(context, String(prefix)) });

  const show = group
    .command('show')
    .summary('show a receipt without verifying it')
    .description('Show the content of a receipt. Nothing is verified: anyone can write such a file.')
    .argument('<file>', 'the receipt; - for standard input');
  examples(show, 'rungate receipt show receipt.json');
  bind(show, { run: (context, [file]) => showCommand(context, String(file)) });

  defineVerify(group, bind);
}
