/**
 * docs/several-masters.md, "Three masters in ten minutes", typed as it stands on three machines. What differs from a person who
 * does it: each types their own address and the token that they were shown, and what `Machines` has in the place of
 * apt, ssh and systemd. Needs root, iproute2, etcd and `npm run build`.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Machines } from '../support/cluster/machines.js';
import type { Terminal } from '../support/cluster/terminal.js';
import { failedOf } from '../support/daemon/daemon.js';
import { type MachineStep, machineSteps } from '../support/repository/machine-steps.js';
import { sectionOf } from '../support/repository/markdown.js';
import { read } from '../support/repository/pages.js';
import { until } from '../support/until.js';

const SECTION = '## Three masters in ten minutes';
const NAMES = ['node-1', 'node-2', 'node-3'];
/** Asks a member of etcd. Prints `answered` or `refused`. */
const KNOCK = `node -e "
const { readFileSync } = require('node:fs');
const [cert, key] = ['cert', 'key'].map((name) => readFileSync('/etc/etcd/' + name + '.pem'));
const shown = process.argv[1] === 'with' ? { cert, key } : {};
require('node:https')
  .get('https://10.0.0.1:2379/health', { ca: cert, agent: false, ...shown }, () => console.log('answered'))
  .on('error', () => console.log('refused'));
"`;
const TERM = /^leader .* term (\d+)/gm;
const reason = Machines.reasonForNone();

describe.skipIf(reason !== undefined)(`three machines${reason === undefined ? '' : `: ${reason}`}`, () => {
  let machines: Machines;
  let terminals: ReadonlyMap<string, Terminal>;
  /** What was typed and what was seen, for a person. */
  let transcript: string;
  let token: string;

  beforeEach(async () => {
    machines = await Machines.boot(NAMES);
    terminals = new Map(
      await Promise.all(NAMES.map(async (name) => [name, await machines.terminal(name)] as const)),
    );
    transcript = '';
    token = '';
  });
  afterEach(async ({ task }) => {
    if (failedOf(task).isFailed) console.log(`${transcript}\n${machines.output()}`);
    await machines?.close();
  });

  /** Types one block on one machine, and answers with the terminal where it was typed. */
  async function type(name: string, { lines, isBeside }: MachineStep): Promise<Terminal> {
    const typed = lines.map((line) =>
      line.replace(/^ADDRESS=.*/, `ADDRESS=${machines.addressOf(name)}`).replace('drvjoin_...', token),
    );
    transcript += `${name}$ ${typed.join('\n')}\n`;
    const terminal = isBeside ? await machines.terminal(name) : terminals.get(name);
    if (terminal === undefined) throw new Error(`no terminal on ${name}`);
    if (isBeside) terminal.type(typed);
    else {
      const said = await terminal.run(typed);
      transcript += said;
      token = /drvjoin_[\w-]+/.exec(said)?.[0] ?? token;
    }
    return terminal;
  }

  /** A number in what a command prints on node-3, which was not killed. */
  async function ask(command: string, pattern: RegExp): Promise<number> {
    const said = await (await machines.terminal('node-3')).run(['cd /srv/drover', command]);
    return numbersIn(said, pattern)[0] ?? expect.fail(`no ${pattern} in ${said}`);
  }

  it('are three masters, and one of them takes over, after what the page says', async () => {
    const steps = machineSteps(sectionOf(read('docs/several-masters.md'), SECTION), NAMES);
    const kill = steps.findIndex(({ lines }) => lines.includes('kill -9 $!'));
    const beside: Terminal[] = [];
    for (const step of steps.slice(0, kill))
      for (const name of step.machines) {
        const terminal = await type(name, step);
        if (step.isBeside) beside.push(terminal);
      }
    const [log, writer] = beside;
    if (log === undefined || writer === undefined)
      throw new Error('the page follows no log, or writes nothing');
    const ticks = (): number[] => numbersIn(log.output, /tick (\d+)$/gm);
    const written = (): number[] => numbersIn(writer.output, /(\d+) is written$/gm);
    /** Resolves when both have shown more lines than now. */
    const goOn = (count: number): Promise<void> => {
      const [fromTicks, fromWritten] = [ticks().length, written().length];
      return until(() => {
        expect(ticks().length, log.output).toBeGreaterThan(fromTicks + count);
        expect(written().length, writer.output).toBeGreaterThan(fromWritten + count);
      });
    };

    await goOn(2);
    const former = numbersIn(transcript, TERM).at(-1) ?? 0;
    const [step] = steps.slice(kill);
    if (step === undefined) throw new Error('the page kills no leader');
    await type('node-1', step);
    await goOn(2);
    for (const step of steps.slice(kill + 1)) for (const name of step.machines) await type(name, step);
    const outsider = await machines.terminal('node-3');
    expect(await outsider.run([`${KNOCK} with`, `${KNOCK} without`])).toBe('answered\nrefused\n');
    // What each said at its start, also before the leader had heard of it.
    expect(machines.output()).not.toContain('runtimes none');
    await until(async () => expect(await ask('drover cluster status', TERM)).toBeGreaterThan(former));

    // A machine that stood still for long was lost: then another instance counts, from 1 again.
    expect(ticks().every((tick, at, all) => tick === 1 || at === 0 || tick === (all[at - 1] ?? 0) + 1)).toBe(
      true,
    );
    // What was acknowledged stands, as another master says.
    const last = written().at(-1) ?? 0;
    expect(await ask('drover config show count', /"n": "(\d+)"/g)).toBeGreaterThanOrEqual(last);
  });
});

function numbersIn(text: string, pattern: RegExp): number[] {
  return [...text.matchAll(pattern)].map(([, number]) => Number(number));
}
