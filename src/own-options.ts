/**
 * Copies the own properties of an object; the copy has no prototype. Inherited properties may come from prototype pollution,
 * so they do not count as options.
 */
export function ownCopy<T extends object>(object: T): T {
  return Object.assign(Object.create(null), object);
}

/**
 * Returns whether a value has no inherited properties, which a copy would lose, unlike the getters of a class. Those of
 * `Object.prototype`, of any realm, do not count: other code may pollute it.
 */
export function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype === null || Object.hasOwn(prototype, 'isPrototypeOf')) return true;
  const inherited = Object.getOwnPropertyNames(prototype);
  return inherited.every((name) => name === 'constructor') && isPlain(prototype);
}
