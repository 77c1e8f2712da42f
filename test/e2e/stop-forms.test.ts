/**
 * Whatever stands beside or before a program, a stop lets it finish its work, and its log has its last words. Each form of
 * a command is tried under each runtime: stopped, then started again and ended in another way. Real shells, Python, Node,
 * Java and nginx take part, where they are installed.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readProcess } from '../../src/files/processes.js';
import type { InstanceInfo } from '../../src/model/instance.js';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { kill } from '../support/daemon/root-processes.js';
import { until } from '../support/until.js';

let world: DaemonWorld;
beforeEach(async () => {
  world = await DaemonWorld.create();
});
afterEach(({ task }) => world.finish(failedOf(task)));

const RUNTIMES = ['process', 'tmux', 'screen'] as const;
const SAVE_MS = 300;
const PYTHON = '/usr/bin/python3';

const FILES = {
  // A second signal, or a terminal that is hung up, ends the program in the middle of its work.
  'server.py': `import signal, sys, time
def stop(number, frame):
    signal.signal(number, signal.SIG_DFL)
    print('got', number, flush=True)
    time.sleep(${SAVE_MS / 1000})
    print('saved', flush=True)
    open('saved', 'a').write('x')
    sys.exit(0)
for number in (1, 2, 15):
    signal.signal(number, stop)
print('ready', flush=True)
while True:
    time.sleep(60)
`,
  // Says nothing, because an end of its shell hangs the terminal up. It takes several signals, as many servers do.
  'quiet.py': `import os, signal, sys, time
got = []
def stop(number, frame):
    got.append(number)
for number in (1, 2, 15):
    signal.signal(number, stop)
print('ready', flush=True)
while not got:
    time.sleep(0.01)
end = time.monotonic() + ${SAVE_MS / 1000}
while time.monotonic() < end:
    time.sleep(0.01)
open('saved', 'a').write('x')
`,
  // Passes each line on late, and ends with what it reads.
  'late.py': `import sys, time
for line in sys.stdin:
    time.sleep(${SAVE_MS / 1000})
    print(line, end='', flush=True)
`,
  'pool.py': `import multiprocessing, signal, sys, time
def work():
    print('ready', flush=True)
    while not multiprocessing.parent_process() or not stopping.is_set():
        time.sleep(0.01)
    time.sleep(${SAVE_MS / 1000})
    print('got 15', flush=True)
multiprocessing.set_start_method('fork')
stopping = multiprocessing.Event()
worker = multiprocessing.Process(target=work)
worker.start()
def stop(number, frame):
    stopping.set()
    worker.join()
    if worker.exitcode == 0:
        print('saved', flush=True)
        open('saved', 'a').write('x')
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
while True:
    time.sleep(60)
`,
  'server.mjs': `import { appendFileSync } from 'node:fs';
process.once('SIGTERM', () => {
  console.log('got 15');
  setTimeout(() => {
    console.log('saved');
    appendFileSync('saved', 'x');
    process.exit();
  }, ${SAVE_MS});
});
setInterval(() => {}, 60_000);
console.log('ready');
`,
  'Server.java': `import java.nio.file.*;
class Server {
  public static void main(String[] arguments) throws Exception {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      try {
        System.out.println("got 15");
        Thread.sleep(${SAVE_MS});
        System.out.println("saved");
        Files.writeString(Path.of("saved"), "x", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      } catch (Exception error) {
        System.out.println(error);
      }
    }));
    System.out.println("ready");
    Thread.sleep(60_000_000);
  }
}
`,
  'run.sh': `${PYTHON} server.py\necho the program has ended\n`,
  'exit.bash': `trap 'echo bye' EXIT\n${PYTHON} server.py\ntrue\n`,
  'forward.sh': `trap 'kill -TERM $pid' TERM\n${PYTHON} server.py &\npid=$!\nwait $pid\nwait $pid\n`,
  'front.bash': `trap 'echo trapped' TERM\n${PYTHON} server.py\ntrue\n`,
};

/** The command lines, and the program that each needs beside a shell. */
const FORMS: Readonly<Record<string, { readonly command: string; readonly needs?: string }>> = {
  simple: { command: `${PYTHON} server.py` },
  list: { command: `cd . && ${PYTHON} server.py` },
  script: { command: 'sh run.sh' },
  'exit-trap': { command: 'bash exit.bash', needs: '/bin/bash' },
  forward: { command: 'sh forward.sh' },
  'front-trap': { command: 'bash front.bash', needs: '/bin/bash' },
  loop: { command: `while true; do ${PYTHON} server.py; sleep 5; done` },
  pipe: { command: `${PYTHON} server.py | tee out.txt` },
  'late-pipe': { command: `${PYTHON} server.py | ${PYTHON} late.py` },
  beside: { command: `sleep 1000 & ${PYTHON} server.py; true` },
  pool: { command: `${PYTHON} pool.py` },
  'pool-in-list': { command: `cd . && ${PYTHON} pool.py` },
  node: { command: `cd . && ${process.execPath} server.mjs` },
};

const present = Object.entries(FORMS).filter(([, { needs = PYTHON }]) => existsSync(needs));

async function untilAll(ids: readonly string[], state: string): Promise<void> {
  await until(async () => {
    const instances = (await world.api.instances()).filter(({ id }) => ids.includes(id));
    const others = instances.filter((one) => one.state !== state);
    expect(others.map((one) => `${one.configurationName} ${one.state} ${one.message}`)).toEqual([]);
  });
}

async function expectSaved({ id, configurationName }: InstanceInfo, times: number): Promise<void> {
  await until(async () => {
    const file = join(world.paths.running, id, 'saved');
    const saved = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const words = (await world.api.logs(id)).filter((line) => /^(ready|got \d+|saved)$/.test(line));
    const wanted = Array.from({ length: times }, () => ['ready', 'got 15', 'saved']).flat();
    expect([configurationName, saved, words]).toEqual([configurationName, 'x'.repeat(times), wanted]);
  });
}

/** Starts one static instance of each form under each of the runtimes. */
async function startAll(
  forms: readonly (readonly [string, { readonly command: string }])[],
  fields: { readonly ramMB?: number } = {},
): Promise<InstanceInfo[]> {
  world.template('test', 'files', FILES);
  const names = forms.flatMap(([form, { command }]) =>
    RUNTIMES.map((runtime) => {
      const name = `${form}-${runtime}`;
      const templateInstallationConfig = { allOf: [{ group: 'test', name: 'files' }] };
      const readiness = { logLine: 'ready' };
      const base = { runtime, command, static: true, minimumServiceCount: 0, stopTimeoutSeconds: 30 };
      world.configure(name, { ...base, templateInstallationConfig, readiness, ...fields });
      return name;
    }),
  );
  await world.start();
  for (const name of names) await world.untilConfigured(name);
  const made: InstanceInfo[] = [];
  for (const name of names) made.push(await world.api.create(name));
  await untilAll(
    made.map(({ id }) => id),
    'ONLINE',
  );
  return made;
}

it.runIf(existsSync(PYTHON))(
  'lets the program finish, whatever its command looks like and however it is ended',
  async () => {
    const all = await startAll(present);
    await Promise.all(all.map(({ id }) => world.api.lifecycle(id, 'stop')));
    await untilAll(
      all.map(({ id }) => id),
      'STOPPED',
    );
    for (const one of all) await expectSaved(one, 1);

    await Promise.all(all.map(({ id }) => world.api.lifecycle(id, 'start')));
    await untilAll(
      all.map(({ id }) => id),
      'ONLINE',
    );
    const [restarted, removed, interrupted] = [0, 1, 2].map((way) =>
      all.filter((_, at) => at % 3 === (way + Math.floor(at / 3)) % 3),
    );
    await Promise.all((restarted ?? []).map(({ id }) => world.api.lifecycle(id, 'restart')));
    await Promise.all((removed ?? []).map(({ id }) => world.api.remove(id)));
    await until(async () => {
      for (const { id } of restarted ?? [])
        expect((await world.api.logs(id)).filter((line) => line === 'ready')).toHaveLength(3);
    });
    await until(async () => {
      const left = await world.api.instances();
      expect(left).toHaveLength((restarted?.length ?? 0) + (interrupted?.length ?? 0));
    });
    const { running } = world.paths;
    const savedBy = ({ id }: InstanceInfo): string => readFileSync(join(running, id, 'saved'), 'utf8');
    expect((removed ?? []).map(savedBy)).toEqual((removed ?? []).map(() => 'xx'));
    for (const { id } of removed ?? []) rmSync(join(running, id), { recursive: true });
    expect(await world.kill('SIGINT')).toEqual({ code: 0, signal: null });
    for (const one of interrupted ?? [])
      expect([one.configurationName, savedBy(one)]).toEqual([one.configurationName, 'xx']);
    for (const one of restarted ?? [])
      expect([one.configurationName, savedBy(one)]).toEqual([one.configurationName, 'xxx']);
  },
);

it.runIf(existsSync('/usr/bin/java'))('lets Java finish behind a start script', async () => {
  const java = { command: 'cd . && java -XX:TieredStopAtLevel=1 -Xshare:auto -Xmx128m Server.java' };
  const all = await startAll([['java', java]], { ramMB: 512 });
  await Promise.all(all.map(({ id }) => world.api.lifecycle(id, 'stop')));
  await untilAll(
    all.map(({ id }) => id),
    'STOPPED',
  );
  for (const one of all) await expectSaved(one, 1);
});

it.runIf(existsSync(PYTHON))(
  'lets finish what a killed shell, session or owner left, and only then starts anew',
  async () => {
    const all = await startAll([['left', { command: `${PYTHON} quiet.py; true` }]]);
    const savedBy = ({ id }: InstanceInfo): string => {
      const file = join(world.paths.running, id, 'saved');
      return existsSync(file) ? readFileSync(file, 'utf8') : '';
    };
    const untilAnew = (times: number): Promise<void> =>
      until(async () => {
        for (const one of all) {
          expect([one.configurationName, savedBy(one)]).toEqual([one.configurationName, 'x'.repeat(times)]);
          const words = (await world.api.logs(one.id)).filter((line) => line === 'ready');
          expect([one.configurationName, words.length]).toEqual([one.configurationName, times + 1]);
        }
      });
    for (const { id } of all) kill(Number((await world.api.instance(id)).processPid));
    await untilAnew(1);
    await untilAll(
      all.map(({ id }) => id),
      'ONLINE',
    );
    for (const pid of await holdersOf(all)) kill(pid);
    await untilAnew(2);
  },
);

it('names a server that makes itself a daemon, where its policy does not start it again, too', async () => {
  // Before setsid has made its session, the end of the shell hangs it up.
  const command = 'setsid sleep 1000 & until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done; echo started';
  world.failing.add('daemon');
  world.configure('daemon', { command, restartPolicy: 'on-failure', stopTimeoutSeconds: 5 });
  await world.start();
  const { state, message } = await world.untilMessage('daemon', /on-failure/);
  expect([state, message]).toEqual([
    'STOPPED',
    'its main process ended with code 0 and left 1 process (sleep) that was in its group: run it in the foreground; restartPolicy on-failure does not start it again',
  ]);
});

it('sends a signal on request to the program behind its shell, which goes on', async () => {
  const program =
    "process.on('SIGHUP', () => console.log('read again')); setInterval(() => {}, 60_000); console.log('ready')";
  const command = `cd . && ${process.execPath} -e "${program}"`;
  world.configure('server', { command, readiness: { logLine: 'ready' } });
  await world.start();
  const [{ id, processPid } = { id: '', processPid: null }] = await world.untilOnline('server', 1);
  expect(await world.api.send('POST', `/instances/${id}/signal`, { signal: 'SIGHUP' })).toMatchObject({
    status: 200,
  });
  await world.untilLogged(id, /^read again$/);
  expect(await world.api.instance(id)).toMatchObject({ state: 'ONLINE', processPid, restarts: 0 });
});

// The kernel ends everything with process 1 of a container.
it.runIf(process.getuid?.() === 0 && existsSync('/usr/bin/unshare'))(
  'stops the instances first when it is process 1',
  async () => {
    world.configure('server', { command: 'cd . && sleep 1000' });
    const outside = world.spawn({ prefix: ['unshare', '--pid', '--fork', '--mount-proc'] });
    await until(() => expect(outside.stdout).toContain('is process 1 of this container'));
    await until(() => expect(outside.stdout).toMatch(/started \w{6} \(server\)/));
    const inside = Number(readFileSync(`/proc/${outside.pid}/task/${outside.pid}/children`, 'latin1'));
    process.kill(inside, 'SIGTERM');
    expect(await outside.ended).toEqual({ code: 0, signal: null });
    expect(outside.stdout).toMatch(/Stopping 1 instance: [\s\S]*All instances have stopped\.\n/);
  },
);

/** The processes that hold the terminals: the owner of the runtime `process`, and the servers of screen and tmux. */
async function holdersOf(all: readonly InstanceInfo[]): Promise<Set<number>> {
  const holders = new Set<number>();
  for (const { id } of all) {
    const leader = readProcess(Number((await world.api.instance(id)).processPid));
    if (leader === undefined) throw new Error(`${id} does not run`);
    const session = readProcess(leader.session);
    holders.add(session?.parent ?? leader.parent);
  }
  return holders;
}
