/** Tells from the answer of `tmux -V` whether the tmux of this machine can hold instances. */

/** The lowest usable version: it has `new-session -e`, `run-shell -C` and hooks of panes. */
const LEAST = { major: 3, minor: 2 };

export interface TmuxVersion {
  /** The version in tmux's own words: `3.3a`. */
  readonly version: string;
  /** The reason why this tmux cannot be used, for an operator; null: it can. */
  readonly reason: string | null;
}

/** Reads the output of `tmux -V`: `tmux 3.3a`, `tmux next-3.5`, `tmux openbsd-7.4`, `tmux master`. */
export function readTmuxVersion(said: string): TmuxVersion {
  const version = said.trim().replace(/^tmux /, '');
  const number = /^(?:next-)?(\d+)\.(\d+)/.exec(version);
  // A version without a number is built from sources, or numbered by the system: assume that it is new enough.
  if (number === null) return { version, reason: null };
  const major = Number(number[1]);
  const isNew = major > LEAST.major || (major === LEAST.major && Number(number[2]) >= LEAST.minor);
  const wanted = `${LEAST.major}.${LEAST.minor}`;
  return { version, reason: isNew ? null : `tmux ${version} is too old: install ${wanted} or newer` };
}
