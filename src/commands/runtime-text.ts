/** The runtimes of a node in words, wherever an operator reads of them. */
import type { RuntimeOffer } from '../model/node.js';

/** Those that can be used: `screen 4.09.00, tmux 3.3a, process`; `none`. */
export function offeredRuntimes(offers: readonly RuntimeOffer[]): string {
  const offered = offers
    .filter(({ available }) => available)
    .map(({ key, version }) => (version === null ? key : `${key} ${version}`));
  return offered.length === 0 ? 'none' : offered.join(', ');
}

/** One line for each that cannot be used, and why: `docker is not offered: no engine answers`. */
export function runtimesNotOffered(offers: readonly RuntimeOffer[]): string[] {
  return offers
    .filter(({ available }) => !available)
    .map(({ key, reason }) => `${key} is not offered: ${reason ?? 'no reason given'}`);
}
