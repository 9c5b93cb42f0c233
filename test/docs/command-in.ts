/** Returns the shell text of the gate from any place in a parsed pipeline. */
export function commandIn(node: unknown): string | null {
  if (typeof node === 'string') return node.includes('exec npx') ? node : null;
  if (typeof node !== 'object' || node === null) return null;
  return Object.values(node).reduce<string | null>((found, inner) => found ?? commandIn(inner), null);
}
