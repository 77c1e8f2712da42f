/**
 * Machines as a person has them, each with a network, files, processes, a host name and terminals of its own. For tests
 * that type the commands of a page. Needs root, iproute2 and Debian's etcd-server.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { REPOSITORY } from '../repository-root.js';
import { until } from '../until.js';
import { Hosts } from './hosts.js';
import { Terminal } from './terminal.js';

/** The network that the page uses. */
const NET = '10.0.0';
const UNIT = ['/lib', '/usr/lib'].map((place) => `${place}/systemd/system/etcd.service`).find(existsSync);
/**
 * Sets up what a machine has for itself; it shares everything else with this machine. The end of its first process ends
 * everything that runs on it.
 */
const BOOT = `
hostname "$NAME"
mount --bind "$MACHINE/etc" /etc
mount --bind "$MACHINE/srv" /srv
mount --bind "$MACHINE/etcd" /var/lib/etcd
read -r
`;
/** Scripts in place of what these machines lack: a package source, systemd and ssh. */
const PROGRAMS = {
  drover: `exec '${process.execPath}' '${join(REPOSITORY, 'dist/main.js')}' "$@"`,
  // Like Debian, the installation of etcd starts the service.
  apt: '[ "$*" = "install -y etcd-server" ] && systemctl restart --no-block etcd',
  scp: `[ "$1" = -rp ] && cp -rp "$2" "$MACHINES/\${3%%:*}\${3#*:}"`,
  // Starts the command of Debian's unit, as its user and with its settings.
  systemctl: `[ "$*" = "restart --no-block etcd" ]
if [ -e "$MACHINE/pid" ]; then kill "$(cat "$MACHINE/pid")"; while kill -0 "$(cat "$MACHINE/pid")" 2>/dev/null; do sleep 0.05; done; fi
settings=$(sed -n 's/^Environment=//p' '${UNIT}' | sed "s/%H/$NAME/"; grep -v '^#' /etc/default/etcd) || [ -n "$settings" ]
env --chdir=/ $settings setpriv --reuid etcd --regid etcd --clear-groups etcd >>"$MACHINE/etcd.log" 2>&1 &
echo $! >"$MACHINE/pid"`,
};

export class Machines {
  readonly #hosts: Hosts;
  readonly #names: readonly string[];
  readonly #directory = mkdtempSync(join(tmpdir(), 'drover-machines-'));
  readonly #booted = new Map<string, ChildProcess>();
  readonly #terminals: Terminal[] = [];

  private constructor(names: readonly string[], hosts: Hosts) {
    this.#names = names;
    this.#hosts = hosts;
  }

  /** Why there can be no machines here, for a visible skip; undefined: they are possible. */
  static reasonForNone(): string | undefined {
    for (const tool of ['etcd', 'ip', 'unshare', 'nsenter', 'setpriv', 'openssl'])
      if (!isThere(tool)) return `there is no ${tool}`;
    if (UNIT === undefined || !existsSync('/var/lib/etcd')) return "etcd is not that of Debian's etcd-server";
    return Hosts.reasonForNone();
  }

  static async boot(names: readonly string[]): Promise<Machines> {
    const machines = new Machines(names, Hosts.create(names, NET));
    try {
      await Promise.all(names.map((name) => machines.#boot(name)));
    } catch (error) {
      await machines.close();
      throw error;
    }
    return machines;
  }

  addressOf(name: string): string {
    return this.#hosts.addressOf(name);
  }

  /** A root shell on the machine. */
  async terminal(name: string): Promise<Terminal> {
    const first = firstProcess(this.#booted.get(name));
    const program = [
      'nsenter',
      `--target=${first}`,
      '--mount',
      '--uts',
      '--ipc',
      '--pid',
      '--net',
      'bash',
      '--norc',
    ];
    const terminal = new Terminal(program, this.#environmentOf(name), this.#placeOf(name));
    this.#terminals.push(terminal);
    return terminal;
  }

  /** The output of etcd and Drover on all machines, while they run. */
  output(): string {
    const files = ['etcd.log', 'srv/drover/drover.log'];
    const logs = this.#names.flatMap((name) => files.map((file) => join(this.#placeOf(name), file)));
    return logs
      .filter((log) => existsSync(log))
      .map((log) => `--- ${log}\n${readFileSync(log, 'utf8').slice(-8000)}`)
      .join('\n');
  }

  /** Ends everything that runs on the machines, and removes them. */
  async close(): Promise<void> {
    // The system ends all processes of a machine together with its first process.
    for (const machine of this.#booted.values()) machine.stdin?.end();
    await until(() => {
      for (const { exitCode, signalCode } of this.#booted.values())
        if (exitCode === null && signalCode === null) throw new Error('a machine still runs');
    });
    await Promise.all(this.#terminals.map((terminal) => terminal.ended));
    this.#hosts.close();
    rmSync(this.#directory, { recursive: true });
  }

  async #boot(name: string): Promise<void> {
    const place = this.#placeOf(name);
    for (const part of ['srv', 'etcd', 'home', 'bin']) mkdirSync(join(place, part), { recursive: true });
    execFileSync('cp', ['-a', '/etc', place]);
    // An empty settings file, as in a fresh installation of etcd.
    writeFileSync(join(place, 'etc/default/etcd'), '');
    execFileSync('chown', ['etcd:', join(place, 'etcd')]);
    for (const [program, text] of Object.entries(PROGRAMS))
      writeFileSync(join(place, 'bin', program), `#!/bin/bash\nset -e\n${text}\n`, { mode: 0o755 });
    const apart = ['--mount', '--uts', '--ipc', '--pid', '--fork', '--kill-child', '--mount-proc'];
    const [ip = '', ...parameters] = [
      ...this.#hosts.on(name),
      'unshare',
      ...apart,
      'bash',
      '--norc',
      '-euc',
      BOOT,
    ];
    const env = this.#environmentOf(name);
    const machine = spawn(ip, parameters, { env, stdio: ['pipe', 'inherit', 'inherit'] });
    this.#booted.set(name, machine);
    await until(() => {
      if (machine.exitCode !== null) throw new Error(`${name} does not boot`);
      if (!hasMounted(firstProcess(machine), '/var/lib/etcd')) throw new Error(`${name} is not up`);
    });
  }

  #placeOf(name: string): string {
    return join(this.#directory, this.addressOf(name));
  }

  #environmentOf(name: string): NodeJS.ProcessEnv {
    const place = this.#placeOf(name);
    return {
      PATH: `${place}/bin:${dirname(process.execPath)}:/usr/sbin:/usr/bin:/sbin:/bin`,
      HOME: join(place, 'home'),
      LANG: 'C.UTF-8',
      NAME: name,
      MACHINE: place,
      MACHINES: this.#directory,
    };
  }
}

/** The pid, as the test sees it, of the process that is 1 on the machine. Throws while there is none. */
function firstProcess(machine: ChildProcess | undefined): number {
  const pid = machine?.pid;
  const [first = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  if (first === '') throw new Error('the machine has no process yet');
  return Number(first);
}

function hasMounted(pid: number, point: string): boolean {
  return readFileSync(`/proc/${pid}/mountinfo`, 'utf8').includes(` ${point} `);
}

function isThere(tool: string): boolean {
  try {
    execFileSync('which', [tool], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
