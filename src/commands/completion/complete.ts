import { addGlobalsOnly, createProgram } from '../../cli/program.ts';
import type { Io } from '../../host/io.ts';
import { answerTo } from './answer.ts';
import { bashLine } from './bash-words.ts';
import { placeOf } from './line.ts';
import { bashReply, plainReply } from './reply.ts';
import type { Shell } from './shells.ts';

/** The program as the words call it, where nothing is run. */
function programFor(words: readonly string[]) {
  return createProgram(words, addGlobalsOnly, { text: '' });
}

/**
 * What the scripts ask for when somebody presses TAB.
 * @param words zsh and fish: those after the program's name, as far as the cursor; bash: COMP_WORDBREAKS, and the line
 * as far as the cursor
 */
export async function completeCommand(io: Io, shell: Shell, words: readonly string[]): Promise<void> {
  if (shell === 'bash') {
    const [breaks = '', text = ''] = words;
    const line = bashLine(text, breaks);
    const own = line.words.slice(1);
    const place = placeOf(await programFor(own), own);
    await io.out.write(bashReply(await answerTo(place, io), line, place.attached));
    return;
  }
  const place = placeOf(await programFor(words), words);
  await io.out.write(plainReply(await answerTo(place, io), shell, place.attached));
}
