/** The signals that an operator may send to an instance. A stop alone ends one for good, so SIGKILL is not among them. */
export const SENDABLE_SIGNALS = [
  'SIGHUP',
  'SIGUSR1',
  'SIGUSR2',
  'SIGWINCH',
  'SIGINT',
  'SIGQUIT',
  'SIGTERM',
  'SIGCONT',
] as const;

export type SendableSignal = (typeof SENDABLE_SIGNALS)[number];
