const volatile: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<id>'],
  [/\b(run|key|rg|tok|wh|whsec)_[0-9A-Za-z]+\b/g, '$1_<id>'],
  [/\brg-[0-9a-f]{12}\b/g, 'rg-<id>'],
  [/--resume [0-9a-f]{8}\b/g, '--resume <id>'],
  [/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'],
  [/\b(127\.0\.0\.1|localhost):\d+/g, '$1:<port>'],
  [/"(attempts|elapsedSeconds)": [\d.]+/g, '"$1": <n>'],
  [/\b(time|timestamp|duration)=(['"])[^'"]*\2/g, '$1=<time>'],
  // The column SECONDS of the selftest, whose width depends on its content.
  [/ +(SECONDS|\d+\.\d) +(?=(RUNS( +HINT)?|\d+)$)/gm, ' <seconds> '],
  [/\b(\d+ (h|min) )?\d+(\.\d+)? ?(ms|s|min|h)\b/g, '<duration>'],
];

/** Returns output for comparison, without ids, times, ports and durations, which differ from run to run. */
export function stable(output: string): string {
  return volatile
    .reduce((text, [pattern, name]) => text.replace(pattern, name), output)
    .replace(/[ \t]+$/gm, '')
    .trim();
}

const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Whether output matches a page, on which a line `…` matches any number of lines. */
export function matches(shown: string, real: string): boolean {
  const parts = `\n${shown}\n`.split(/(?<=\n)…\n/).map(literal);
  return new RegExp(`^${parts.join('(?:.*\\n)*')}$`).test(`\n${real}\n`);
}
