/** Returns a number with its noun: `1 run`, `2 runs`. */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
