/**
 * A tree of control groups of version 2 in a temporary directory, with the kernel's rules that matter to Drover. Groups
 * come with their files, and controllers are passed downwards. No group both holds processes and passes controllers on.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { GroupFiles } from '../../../src/runtime/limits/group-files.js';
import type { Setting } from '../../../src/runtime/limits/hierarchy.js';
import type { OwnGroup } from '../../../src/runtime/limits/own-groups.js';

const FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  memory: {
    'memory.max': 'max\n',
    'memory.swap.max': 'max\n',
    'memory.current': '5000000\n',
    'memory.stat': 'anon 1000000\ninactive_file 1000000\n',
    'memory.events': 'low 0\nmax 0\noom 0\noom_kill 0\n',
  },
  cpu: { 'cpu.max': 'max 100000\n' },
  pids: { 'pids.max': 'max\n' },
  io: { 'io.max': '', 'io.weight': 'default 100\n' },
};

export class FakeCgroup2 extends GroupFiles {
  readonly mountPoint = mkdtempSync(join(tmpdir(), 'drover-cgroup2-'));

  /** `controllers`: the controllers of the machine. All of them are passed down to `path`, which holds `pids`. */
  static withOwn(
    path: string,
    pids: readonly number[],
    controllers = ['cpuset', 'cpu', 'memory', 'pids'],
  ): FakeCgroup2 {
    const fake = new FakeCgroup2();
    fake.#populate(fake.mountPoint, controllers);
    rmSync(join(fake.mountPoint, 'cgroup.type'));
    for (const directory of fake.#pathTo(join(fake.mountPoint, path))) {
      fake.#put(dirname(directory), 'cgroup.subtree_control', controllers.join(' '));
      mkdirSync(directory);
      fake.#populate(directory, controllers);
    }
    fake.#put(join(fake.mountPoint, path), 'cgroup.procs', pids.map((pid) => `${pid}\n`).join(''));
    return fake;
  }

  own(path: string, isReadOnly = false): OwnGroup {
    return { directory: join(this.mountPoint, path), mountPoint: this.mountPoint, isReadOnly };
  }

  /** The content of a file of the group at `path`, without the last newline. */
  says(path: string, name: string): string {
    return readFileSync(join(this.mountPoint, path, name), 'latin1').trim();
  }

  put(path: string, name: string, text: string): void {
    this.#put(join(this.mountPoint, path), name, text);
  }

  override async make(directory: string): Promise<boolean> {
    const isNew = !existsSync(directory);
    for (const group of this.#pathTo(directory)) {
      if (existsSync(group)) continue;
      const given = this.text(dirname(group), 'cgroup.subtree_control') ?? '';
      mkdirSync(group);
      this.#populate(group, given.trim().split(' ').filter(Boolean));
    }
    return isNew;
  }

  override async write(directory: string, name: string, value: string | number): Promise<void> {
    if (name === 'cgroup.procs') this.#move(directory, Number(value));
    else if (name === 'cgroup.subtree_control') this.#give(directory, String(value));
    else this.set({ directory, name, value });
  }

  override set({ directory, name, value }: Setting): void {
    if (this.text(directory, name) === undefined) throw refused('ENOENT');
    this.#put(directory, name, `${value}\n`);
  }

  override async remove(directory: string): Promise<boolean> {
    if (!existsSync(directory)) return true;
    if (this.pids(directory)?.length !== 0 || (await this.groupsIn(directory)).length > 0) return false;
    rmSync(directory, { recursive: true });
    return true;
  }

  close(): void {
    rmSync(this.mountPoint, { recursive: true });
  }

  #move(directory: string, pid: number): void {
    if (!this.#isTop(directory) && this.text(directory, 'cgroup.subtree_control')?.trim() !== '')
      throw refused('EBUSY');
    for (const group of this.#all(this.mountPoint)) {
      const left = (this.pids(group) ?? []).filter((other) => other !== pid);
      this.#put(group, 'cgroup.procs', left.map((other) => `${other}\n`).join(''));
    }
    this.#put(directory, 'cgroup.procs', `${this.text(directory, 'cgroup.procs') ?? ''}${pid}\n`);
  }

  #give(directory: string, change: string): void {
    const controller = change.slice(1);
    const given = this.text(directory, 'cgroup.subtree_control')?.trim() ?? '';
    if (!(this.text(directory, 'cgroup.controllers') ?? '').split(/\s/).includes(controller))
      throw refused('ENOENT');
    if (!this.#isTop(directory) && this.pids(directory)?.length !== 0) throw refused('EBUSY');
    this.#put(directory, 'cgroup.subtree_control', `${given} ${controller}`.trim());
    for (const name of readdirSync(directory, { withFileTypes: true }))
      if (name.isDirectory()) this.#populate(join(directory, name.name), [controller]);
  }

  #isTop(directory: string): boolean {
    return !existsSync(join(directory, 'cgroup.type'));
  }

  #populate(directory: string, controllers: readonly string[]): void {
    const known = (this.text(directory, 'cgroup.controllers') ?? '').split(/\s/).filter(Boolean);
    const own = {
      'cgroup.type': 'domain\n',
      'cgroup.procs': '',
      'cgroup.kill': '',
      'cgroup.subtree_control': '',
      'cpu.stat': 'usage_usec 2500000\nuser_usec 1\n',
    };
    for (const files of [own, ...controllers.map((controller) => FILES[controller] ?? {})])
      for (const [name, text] of Object.entries(files))
        if (!existsSync(join(directory, name))) this.#put(directory, name, text);
    this.#put(directory, 'cgroup.controllers', [...new Set([...known, ...controllers])].join(' '));
  }

  #put(directory: string, name: string, text: string): void {
    writeFileSync(join(directory, name), text);
  }

  /** The groups from the top down to this one, without the top itself. */
  #pathTo(directory: string): string[] {
    const names = relative(this.mountPoint, directory).split('/').filter(Boolean);
    return names.map((_, index) => join(this.mountPoint, ...names.slice(0, index + 1)));
  }

  *#all(directory: string): Generator<string> {
    yield directory;
    for (const entry of readdirSync(directory, { withFileTypes: true }))
      if (entry.isDirectory()) yield* this.#all(join(directory, entry.name));
  }
}

function refused(code: string): Error {
  return Object.assign(new Error(code), { code });
}
