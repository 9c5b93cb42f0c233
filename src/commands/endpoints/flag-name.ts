import type { Field } from '../../contract/shape.ts';

/** `promoteToTicket` → `promote-to-ticket`. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `device-name` → `deviceName`: how commander names the value of `--device-name`. */
export function flagKey(field: Field): string {
  return field.path.at(-1) ?? '';
}

/** The flag of a field: the name of its leaf. */
export function flagName(field: Field): string {
  return `--${kebab(flagKey(field))}`;
}
