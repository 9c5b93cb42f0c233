import { main as run } from '../../src/cli/main.ts';
import type { Io } from '../../src/host/io.ts';
import type { Sink } from '../../src/host/sink.ts';
import { checkDocuments } from './documents.ts';

/** Records what is written. Returns a function that ends that and returns the text. */
function record(sink: Sink): () => string {
  const { write } = sink;
  let text = '';
  sink.write = (part) => {
    text += part;
    return write.call(sink, part);
  };
  return () => {
    sink.write = write;
    return text;
  };
}

/** Runs `main`, and checks every JSON document that the command prints against its published schema. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const [out, err] = [record(io.out), record(io.err)];
  const code = await run(argv, io);
  await checkDocuments(argv, out(), err());
  return code;
}
