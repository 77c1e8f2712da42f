/**
 * A process's place in the control groups of the machine, as `/proc` tells it. Does not know whether anything there may
 * be written.
 */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** A mounted control group hierarchy, with the process's own group in it. */
export interface OwnGroup {
  /** Directory of the own group. */
  readonly directory: string;
  /** The topmost directory of the hierarchy that is visible here. */
  readonly mountPoint: string;
  readonly isReadOnly: boolean;
}

export interface OwnGroups {
  /** The own groups by controller (`memory`, `cpu`, `cpuacct`). */
  readonly version1: ReadonlyMap<string, OwnGroup>;
  readonly version2: OwnGroup | undefined;
}

interface Mount {
  readonly root: string;
  readonly mountPoint: string;
  readonly type: string;
  readonly isReadOnly: boolean;
  /** The options of the file system; in version 1 they include its controllers. */
  readonly options: readonly string[];
}

/** The groups of a process that is visible here. Throws the system's error. */
export function readOwnGroups(pid: number | 'self'): OwnGroups {
  const cgroups = readFileSync(`/proc/${pid}/cgroup`, 'latin1');
  return findOwnGroups(cgroups, readFileSync('/proc/self/mountinfo', 'latin1'));
}

/** Finds the own groups. Pure. `cgroups`: text of `/proc/<pid>/cgroup`; `mountinfo`: text of `/proc/self/mountinfo`. */
export function findOwnGroups(cgroups: string, mountinfo: string): OwnGroups {
  const mounts = mountinfo.split('\n').flatMap(parseMount);
  const version1 = new Map<string, OwnGroup>();
  let version2: OwnGroup | undefined;
  for (const { controllers, path } of parseGroups(cgroups)) {
    if (controllers.length === 0)
      version2 ??= within(
        mounts.find(({ type }) => type === 'cgroup2'),
        path,
      );
    for (const controller of controllers) {
      const mount = mounts.find(({ type, options }) => type === 'cgroup' && options.includes(controller));
      const group = within(mount, path);
      if (group !== undefined) version1.set(controller, group);
    }
  }
  return { version1, version2 };
}

/** The groups of a process, by line `<hierarchy>:<controllers>:<path>`; version 2 has no controllers. */
function parseGroups(text: string): { controllers: readonly string[]; path: string }[] {
  return text.split('\n').flatMap((line) => {
    const [, controllers, ...path] = line.split(':');
    if (controllers === undefined || path.length === 0) return [];
    return [{ controllers: controllers.split(',').filter((name) => name !== ''), path: path.join(':') }];
  });
}

/** The group at `path` as a visible directory; undefined: it lies outside of what is mounted. */
function within(mount: Mount | undefined, path: string): OwnGroup | undefined {
  // Inside a namespace of control groups, a path that begins with `/..` lies outside of it and cannot be reached.
  if (mount === undefined || [mount.root, path].some((text) => text.startsWith('/..'))) return undefined;
  const below = relative(mount.root, path);
  if (below === '..' || below.startsWith('../')) return undefined;
  const { mountPoint, isReadOnly } = mount;
  return { directory: join(mountPoint, below), mountPoint, isReadOnly };
}

/** Parses one line such as `36 35 98:0 /root /mount/point rw,noatime shared:1 - cgroup cgroup rw,memory`. */
function parseMount(line: string): Mount[] {
  const [before, after] = line.split(' - ');
  const [, , , root, mountPoint, flags] = before?.split(' ') ?? [];
  const [type, , options] = after?.split(' ') ?? [];
  if (root === undefined || mountPoint === undefined || type === undefined || options === undefined)
    return [];
  const isReadOnly = [flags, options].some((list) => list?.split(',').includes('ro') === true);
  return [
    {
      root: decodePath(root),
      mountPoint: decodePath(mountPoint),
      type,
      isReadOnly,
      options: options.split(','),
    },
  ];
}

/** mountinfo writes spaces and the like as three octal digits. */
function decodePath(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
