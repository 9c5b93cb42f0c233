#!/usr/bin/env node
import module from 'node:module';

// Node 22.1 and later keep compiled code between runs; older ones have no such call.
module.enableCompileCache?.();

const { main, systemIo } = await import('../dist/cli.js');
// Never process.exit: it cuts off what a pipe has not taken yet.
process.exitCode = await main(process.argv.slice(2), systemIo);
