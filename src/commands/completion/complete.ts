import type { Command } from 'commander';
import type { Io } from '../../host/io.ts';
import { answerTo } from './answer.ts';
import { bashLine } from './bash-words.ts';
import { placeOf } from './line.ts';
import { bashReply, plainReply } from './reply.ts';
import type { Shell } from './shells.ts';

/** Builds the program with the commands that the words call; nothing is run. */
export type ProgramFor = (words: readonly string[]) => Promise<Command>;

/**
 * What the scripts ask for when somebody presses TAB.
 * @param programFor builds the program whose commands and options are offered
 * @param words zsh and fish: those after the program's name, as far as the cursor; bash: COMP_WORDBREAKS, and the line
 * as far as the cursor
 */
export async function completeCommand(
  io: Io,
  shell: Shell,
  words: readonly string[],
  programFor: ProgramFor,
): Promise<void> {
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
