/**
 * The identity of a run beyond its number: pid and start time of a process of this host, or the engine's id of a
 * container. Handles keep it. It is checked wherever a runtime's answer is not trusted.
 */
import { z } from 'zod';

const processIdentitySchema = z.object({ pid: z.int(), startTime: z.number(), bootId: z.string() });
const containerIdentitySchema = z.object({ containerId: z.string() });
export const runIdentitySchema = z.union([processIdentitySchema, containerIdentitySchema]);

/** A run known by its engine's id: it has no process of its own on the host. */
export type ContainerIdentity = Readonly<z.output<typeof containerIdentitySchema>>;
export type RunIdentity = Readonly<z.output<typeof processIdentitySchema>> | ContainerIdentity;

/**
 * The pid of a container in statuses and reports, where null means that nothing runs. Clients get null for a container:
 * see `publicPid`.
 */
export const NO_HOST_PID = 0;

/** The pid for a status or report: NO_HOST_PID for a container, null for nothing. */
export function pidOf(identity: RunIdentity | null): number | null {
  if (identity === null) return null;
  return 'pid' in identity ? identity.pid : NO_HOST_PID;
}

/** `processPid` as clients see it: null for a container, too. */
export function publicPid(pid: number | null): number | null {
  return pid === NO_HOST_PID ? null : pid;
}

export function isSameRun(a: RunIdentity | null, b: RunIdentity): boolean {
  if (a === null) return false;
  if ('pid' in a) return 'pid' in b && a.pid === b.pid;
  return 'containerId' in b && a.containerId === b.containerId;
}

/** Words for a log line: `pid 4711`, or `container 3fd8944bee3a` with the short id of the engine's own tools. */
export function identityText(identity: RunIdentity): string {
  return 'pid' in identity ? `pid ${identity.pid}` : `container ${identity.containerId.slice(0, 12)}`;
}
