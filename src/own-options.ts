/**
 * Copies the properties of these names that the object has itself. What other code has put into every object
 * (prototype pollution) is not an option that somebody chose.
 */
export function ownOptions<T extends object>(options: T, names: readonly (keyof T & string)[]): T {
  const copy: Partial<T> = Object.create(null);
  for (const name of names) if (Object.hasOwn(options, name)) copy[name] = options[name];
  return copy as T;
}

/** Copies all that the object has itself; lookups in the copy find nothing else. */
export function ownCopy<T extends object>(object: T): T {
  return Object.assign(Object.create(null), object);
}
