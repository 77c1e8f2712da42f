/**
 * The users of this machine for `runAs`: finds the user, and tells whether Drover may start programs as that user.
 * Reads `/etc/passwd` at each call, so that a new user counts at once.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { type OwnUser, ownUser } from '../../files/own-user.js';
import { DroverError } from '../../model/errors.js';
import { parseUserIds, type UserIds } from '../../model/names.js';
import { attempt } from '../../model/plain/attempt.js';

/**
 * The capabilities that Drover needs to run an instance as another user, from making its directory to sending its
 * last signal. The numbers are those of `capabilities(7)`.
 */
const NEEDED_CAPABILITIES = { CHOWN: 0, DAC_OVERRIDE: 1, FOWNER: 3, KILL: 5, SETGID: 6, SETUID: 7 };
const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv', '/usr/sbin/setpriv', '/sbin/setpriv'];

/** The runtime whose programs inherit descriptors that only bash can close (process/shell-prelude.ts). */
const INHERITING = 'process';

export interface RunUser extends UserIds {
  /** The user's name; null for a user given by number, who is in no group but `gid`. */
  readonly name: string | null;
  readonly home: string | null;
  readonly shell: string | null;
}

/** The facts that `NodeUsers` reads from the machine. Tests replace some of them. */
export interface Machine extends OwnUser {
  /** Reads `/etc/passwd`. */
  readonly passwords: () => string;
  /** Reads `/proc/self/status`. */
  readonly status: () => string;
  /** The path of the program that changes the user and becomes another program; undefined: not installed. */
  readonly setpriv: () => string | undefined;
  readonly hasBash: () => boolean;
}

export class NodeUsers {
  readonly #runAs: string | undefined;
  readonly #machine: Machine;

  /** `runAs`: the node's default user; absent: Drover's own user. */
  constructor(runAs: string | undefined, machine: Machine = thisMachine()) {
    this.#runAs = runAs;
    this.#machine = machine;
  }

  /**
   * The other user that a program is to run as; undefined: Drover's own user. Throws DRV_RUNTIME_START_FAILED when the
   * node does not know the user, or cannot start programs as another user.
   */
  userOf(runAs: string | undefined = this.#runAs): RunUser | undefined {
    if (runAs === undefined) return undefined;
    const ids = parseUserIds(runAs);
    const user = ids === undefined ? this.#named(runAs) : { ...ids, name: null, home: null, shell: null };
    const { uid, gid, username } = this.#machine;
    if (user.uid === uid && (user.name !== null || user.gid === gid)) return undefined;
    const missing = this.#missingCapabilities();
    if (missing.length > 0)
      throw refusal(
        runAs,
        uid === 0
          ? `Drover runs as root here without ${missing.join(', ')}, so it cannot change users; give it these capabilities`
          : `Drover runs as ${username} here and cannot start a program as another user; run it as root, or place the instance on a node that runs as root (nodes)`,
      );
    return user;
  }

  /** The path of the program that changes the user for programs of `runtime`. Throws like `userOf`. */
  setpriv(runtime: string, runAs: string = this.#runAs ?? ''): string {
    const program = this.#machine.setpriv();
    if (program === undefined)
      throw refusal(runAs, 'the program setpriv of util-linux is not installed here; install it');
    if (runtime === INHERITING && !this.#machine.hasBash())
      throw refusal(
        runAs,
        `without bash a program of runtime ${runtime} would inherit the terminals of others; install bash here, or take another runtime`,
      );
    return program;
  }

  #named(name: string): RunUser {
    for (const line of this.#machine.passwords().split('\n')) {
      const [known, , uid, gid, , home, shell] = line.split(':');
      if (known !== name || !uid || !gid) continue;
      return { uid: Number(uid), gid: Number(gid), name, home: home || null, shell: shell || null };
    }
    throw refusal(
      name,
      'this node has no such user in /etc/passwd; make it (useradd), or give "uid:gid" in numbers',
    );
  }

  #missingCapabilities(): string[] {
    const held = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(this.#machine.status())?.[1] ?? '0'}`);
    return Object.entries(NEEDED_CAPABILITIES)
      .filter(([, bit]) => (held & (1n << BigInt(bit))) === 0n)
      .map(([name]) => `CAP_${name}`);
  }
}

function thisMachine(): Machine {
  return {
    ...ownUser(),
    passwords: () => readFileSync('/etc/passwd', 'utf8'),
    status: () => readFileSync('/proc/self/status', 'latin1'),
    setpriv: () => SETPRIV.find(isSetpriv),
    hasBash: () => existsSync('/bin/bash'),
  };
}

/** False for the setpriv of busybox, which cannot change users. */
function isSetpriv(path: string): boolean {
  return attempt(() => basename(realpathSync(path)) === 'setpriv', false);
}

function refusal(runAs: string, problem: string): DroverError {
  return new DroverError('DRV_RUNTIME_START_FAILED', `runAs ${runAs}: ${problem}`);
}
