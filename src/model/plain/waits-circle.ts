/** Configurations that wait for each other in a circle (`waitsFor`), which has no end. */

/** A content of a configuration, as far as it waits for others. */
export interface Waiting {
  readonly name: string;
  readonly waitsFor?: readonly { readonly configuration: string }[] | undefined;
}

/**
 * The fault of a content that waits for itself over others, with the shortest such chain; undefined: it does not.
 * `otherOf` gives the other contents by name.
 */
export function circleFault(
  content: Waiting,
  otherOf: (name: string) => Waiting | undefined,
): string | undefined {
  if (content.waitsFor === undefined) return undefined;
  const { name } = content;
  const cameFrom = new Map<string, string>();
  const reached = [name];
  for (const at of reached)
    for (const { configuration: next } of (at === name ? content : otherOf(at))?.waitsFor ?? []) {
      if (next === name) {
        const circle = [at, name];
        for (let one = at; one !== name; circle.unshift(one)) one = cameFrom.get(one) ?? name;
        return `waitsFor: goes in a circle: ${circle.join(' -> ')}. Each would wait for ever: remove one of these waits`;
      }
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, at);
      reached.push(next);
    }
  return undefined;
}
