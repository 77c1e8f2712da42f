/** Describes the runtimes of a node, for every place that shows them. */
import type { RuntimeOffer } from '../model/node.js';

/** The runtimes that can be used: `screen 4.09.00, tmux 3.3a, process`, or `none`. */
export function offeredRuntimes(offers: readonly RuntimeOffer[]): string {
  const offered = offers
    .filter(({ available }) => available)
    .map(({ key, version }) => (version === null ? key : `${key} ${version}`));
  return offered.length === 0 ? 'none' : offered.join(', ');
}

/** Returns a line for each runtime that cannot be used, with the reason: `docker is not offered: no engine answers`. */
export function runtimesNotOffered(offers: readonly RuntimeOffer[]): string[] {
  return offers
    .filter(({ available }) => !available)
    .map(({ key, reason }) => `${key} is not offered: ${reason ?? 'no reason given'}`);
}
