/**
 * Finds the places to watch, so that no change of a configuration is missed. They are the directory itself, and each
 * directory in which a link or its target may be replaced, as Kubernetes swaps a mounted ConfigMap.
 */
import { lstat, readlink, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const MAX_LINKS = 40;

/** The names that matter in one real directory. */
export interface WatchPoint {
  readonly names: Set<string>;
  /** True when every configuration file in the directory matters, too. */
  isSource: boolean;
  /** Device and inode: another directory at the same path is another point. */
  readonly identity: string;
}

/** The points, by real path of the directory. */
export type WatchPoints = ReadonlyMap<string, WatchPoint>;

/**
 * Finds the points of `directory`; `links` are the names in it that are symbolic links. For a missing path it
 * watches the directory where that path would appear.
 */
export async function findWatchPoints(directory: string, links: readonly string[]): Promise<WatchPoints> {
  const points = new Map<string, WatchPoint>();
  const source = await follow(directory, points);
  if (source !== undefined) {
    const point = await pointAt(source, points);
    if (point !== undefined) point.isSource = true;
  }
  for (const name of links) await follow(join(directory, name), points);
  return points;
}

/** Equal texts mean the same points. */
export function watchPointsText(points: WatchPoints): string {
  const lines = [...points].map(([path, { identity, isSource, names }]) =>
    JSON.stringify([path, identity, isSource, [...names].sort()]),
  );
  return lines.sort().join('\n');
}

/** Resolves `path` as the kernel does, and notes each name on the way. Returns the real path, if it exists. */
async function follow(path: string, points: Map<string, WatchPoint>): Promise<string | undefined> {
  let rest = segmentsOf(path);
  let current = '/';
  let linksLeft = MAX_LINKS;
  for (let segment = rest.shift(); segment !== undefined; segment = rest.shift()) {
    const next = join(current, segment);
    const status = await lstat(next).catch(() => undefined);
    const isLink = status?.isSymbolicLink() === true;
    if (status === undefined || isLink || rest.length === 0)
      (await pointAt(current, points))?.names.add(segment);
    if (status === undefined) return undefined;
    if (!isLink) current = next;
    else {
      const target = await readlink(next).catch(() => undefined);
      if (target === undefined || linksLeft-- === 0) return undefined;
      rest = [...segmentsOf(resolve(current, target)), ...rest];
      current = '/';
    }
  }
  return current;
}

async function pointAt(path: string, points: Map<string, WatchPoint>): Promise<WatchPoint | undefined> {
  const known = points.get(path);
  if (known !== undefined) return known;
  const status = await stat(path).catch(() => undefined);
  if (status === undefined) return undefined;
  const point = { names: new Set<string>(), isSource: false, identity: `${status.dev}:${status.ino}` };
  points.set(path, point);
  return point;
}

function segmentsOf(path: string): string[] {
  return resolve(path)
    .split('/')
    .filter((segment) => segment !== '');
}
