type Given<T> = {
  readonly [K in keyof T]?: T[K] extends (...values: never[]) => unknown ? T[K] : Partial<T[K]>;
};

/**
 * Collaborators for a unit under test: the test gives the members that the unit uses, and any other member throws an
 * error with its name.
 */
export function given<T extends object>(members: Given<T>): T {
  return new Proxy(members as T, {
    get(target, name, receiver) {
      if (typeof name === 'symbol' || name in target) return Reflect.get(target, name, receiver);
      throw new Error(`the test gives no ${name}`);
    },
  });
}
