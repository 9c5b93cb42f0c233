import type { Command } from 'commander';
import { type Bind, examples } from '../binding.ts';
import { collect, once } from '../options.ts';
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
    .option('--key <file>', 'public key to trust, PEM (repeatable: any of them may have signed)', collect)
    .option('--commit <sha>', 'the commit that must have been tested, in full', once('--commit'))
    .option(
      '--subject <name@sha256:hex>',
      'image or file that must have been tested; sha256:<hex> for any name (repeatable)',
      collect,
    )
    .option('--subject-file <file>', 'file that must have been tested, by its content (repeatable)', collect)
    .option('--gate <name>', 'gate that must have a receipt (repeatable)', collect)
    .option('--repository <name>', 'expected repository', once('--repository'))
    .option('-p, --project <slug>', 'expected project', once('--project'))
    .option('--process <slug>', 'expected process', once('--process'))
    .option('--tag <tag>', 'expected tag (repeatable, or separated by commas): exactly these', collect)
    .option('-e, --environment <key>', 'expected environment', once('--environment'))
    .option('--base-url <url>', 'expected URL of a preview deployment, without a query', once('--base-url'))
    .option('--require-deployed', 'refuse a receipt whose gate did not check which build was deployed')
    .option(
      '--max-age <duration>',
      'maximum time since the runs ended, such as 24h (default: any)',
      once('--max-age'),
    )
    .option(
      '--allow-warned',
      'also accept WARNED: a run that failed, or passed only on a retry, which the policy let through',
    );
  examples(
    command,
    'rungate receipt verify receipt.json --key ci.pub --commit "$GITHUB_SHA"',
    'rungate receipt verify receipt.json --key ci.pub --subject "$IMAGE@$DIGEST" \\\n    --environment staging --require-deployed --max-age 24h',
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
