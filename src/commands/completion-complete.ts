import type { Io } from '../output/io.ts';
import { answerTo } from './completion-answer.ts';
import { bashLine } from './completion-bash-words.ts';
import { placeOf } from './completion-line.ts';
import { bashReply, plainReply } from './completion-reply.ts';
import type { Shell } from './completion-shells.ts';
import { addGlobalsOnly, createProgram } from './program.ts';

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
