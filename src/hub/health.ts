/** Whether Redis works, as far as this hub knows. */
export interface Health {
  /** Called with each error of Redis, and with null when a call of the budget succeeds: each of them writes. */
  report(error: unknown): void;
}

/** Returns a function that calls Redis, and this hub's own store if Redis fails. */
export const withFallback =
  <Store>(shared: Store, local: Store, health: Health) =>
  async <Value>(call: (store: Store) => Promise<Value>): Promise<Value> => {
    try {
      return await call(shared);
    } catch (error) {
      health.report(error);
      return call(local);
    }
  };
