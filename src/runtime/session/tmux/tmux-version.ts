/** Whether the tmux of this machine can hold instances, by what `tmux -V` says. */

/** `new-session -e`, `run-shell -C` and hooks of panes are needed. */
const LEAST = { major: 3, minor: 2 };

export interface TmuxVersion {
  /** As tmux says it: `3.3a`. */
  readonly version: string;
  /** Why it cannot be used, for an operator; null: it can. */
  readonly reason: string | null;
}

/** `said` is the output of `tmux -V`: `tmux 3.3a`, `tmux next-3.5`, `tmux openbsd-7.4`, `tmux master`. */
export function readTmuxVersion(said: string): TmuxVersion {
  const version = said.trim().replace(/^tmux /, '');
  const number = /^(?:next-)?(\d+)\.(\d+)/.exec(version);
  // Built from its sources, or of a system that numbers differently: newer than any that is too old.
  if (number === null) return { version, reason: null };
  const major = Number(number[1]);
  const isNew = major > LEAST.major || (major === LEAST.major && Number(number[2]) >= LEAST.minor);
  const wanted = `${LEAST.major}.${LEAST.minor}`;
  return { version, reason: isNew ? null : `tmux ${version} is too old: install ${wanted} or newer` };
}
