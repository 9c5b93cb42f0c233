#!/usr/bin/env node
import module from 'node:module';

// Whatever goes wrong before main() can say so is a bug: 70, and never Node's own 1, which means "failed" here.
process.exitCode = 70;
process.on('uncaughtException', (error) => {
  console.error('error: this is a bug in rungate; please report it with the lines below');
  console.error(error);
  process.exit(70);
});

// Node 22.1 and later keep compiled code between runs; older ones have no such call.
module.enableCompileCache?.();

const words = process.argv.slice(2);
if (words.length === 1 && words[0] === '--version') {
  // What monitors and installers ask for most, and the one question that needs nothing else.
  const { version } = await import('../dist/version.js');
  process.stdout.write(`${version}\n`);
  process.exitCode = 0;
} else {
  const { main, systemIo } = await import('../dist/cli.js');
  // Never process.exit: it cuts off what a pipe has not taken yet.
  process.exitCode = await main(words, systemIo);
}
