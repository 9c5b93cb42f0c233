/**
 * Copies the own properties with these names. Inherited properties may come from prototype pollution, so they do not
 * count as options.
 */
export function ownOptions<T extends object>(options: T, names: readonly (keyof T & string)[]): T {
  const copy: Partial<T> = Object.create(null);
  for (const name of names) if (Object.hasOwn(options, name)) copy[name] = options[name];
  return copy as T;
}

/** Copies the own properties of an object; the copy has no prototype. */
export function ownCopy<T extends object>(object: T): T {
  return Object.assign(Object.create(null), object);
}
