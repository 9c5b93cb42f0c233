/** The shell text of the gate, wherever in a parsed pipeline it stands. */
export function commandIn(node: unknown): string | null {
  if (typeof node === 'string') return node.includes('exec npx') ? node : null;
  if (typeof node !== 'object' || node === null) return null;
  return Object.values(node).reduce<string | null>((found, inner) => found ?? commandIn(inner), null);
}
