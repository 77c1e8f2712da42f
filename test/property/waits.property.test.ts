/** `waitsFor` over random graphs: no start before its conditions held, and no wait without a reason that holds. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isMetBy, type Wait } from '../../src/model/fields/waits-for.js';
import { circleFault } from '../../src/model/plain/waits-circle.js';
import { ControlPlane } from '../support/control-plane/control-plane.js';
import { FakeClock } from '../support/fake-clock.js';

const RUNS = Number(process.env.DROVER_PROPERTY_RUNS ?? 6);
const NAMES = ['a', 'b', 'c', 'd', 'e'];

const untils = fc.constantFrom('ready' as const, 'finished' as const, 'started' as const);
/** Edges from a later name to an earlier one, so that there is no circle. */
const graphs = fc.array(fc.record({ from: fc.nat({ max: 4 }), to: fc.nat({ max: 4 }), until: untils }), {
  maxLength: 8,
});
/** The ends of runs: which live one, and its exit code. A `null` is a new master. */
const deeds = fc.array(fc.option(fc.record({ which: fc.nat({ max: 9 }), code: fc.constantFrom(0, 0, 1) })), {
  minLength: 4,
  maxLength: 12,
});

it('starts nothing before its waits held, and holds nothing whose waits hold', async () => {
  await fc.assert(
    fc.asyncProperty(
      graphs,
      deeds,
      fc.shuffledSubarray(NAMES, { minLength: 3 }),
      async (edges, ends, order) => {
        const clock = new FakeClock();
        const plane = new ControlPlane({ clock });
        await plane.start();
        const node = await plane.addNode('alpha');
        const waitsOf = (name: string): Wait[] =>
          edges.flatMap(({ from, to, until }) =>
            NAMES[from] === name && to < from ? [{ configuration: NAMES[to] ?? '', until }] : [],
          );
        const isMet = (wait: Wait): boolean =>
          plane.records().some((one) => one.configurationName === wait.configuration && isMetBy(wait, one));
        const hasHeld = new Set<string>();
        const keyOf = ({ configuration, until }: Wait): string => `${configuration} ${until}`;
        let seen = 0;
        const look = (): void => {
          for (const { instanceId, run } of node.runtime.starts.slice(seen)) {
            const name = plane.records().find(({ id }) => id === instanceId)?.configurationName ?? '';
            if (run === 1)
              for (const wait of waitsOf(name)) expect(hasHeld, `${name} started`).toContain(keyOf(wait));
          }
          seen = node.runtime.starts.length;
          for (const wait of NAMES.flatMap(waitsOf)) if (isMet(wait)) hasHeld.add(keyOf(wait));
        };
        const unlisten = plane.master.state.instances.onChange(look);
        for (const name of order)
          await plane.putConfiguration({
            name,
            runtime: 'process',
            command: 'run',
            ramMB: 1,
            restartPolicy: name < 'c' ? 'never' : 'always',
            waitsFor: waitsOf(name),
          });
        for (const end of ends) {
          await clock.advance(1500);
          look();
          if (end === null) {
            await plane.replaceMaster();
            plane.master.state.instances.onChange(look);
          } else {
            const id = node.runtime.alive[end.which % Math.max(1, node.runtime.alive.length)];
            if (id !== undefined) node.runtime.end(id, { code: end.code, signal: null });
          }
        }
        await clock.advance(30_000);
        unlisten();
        for (const { configurationName: name, placement, status } of plane.records()) {
          const isHeld = placement === null && status.reason === 'waits-for';
          expect(isHeld, `${name}: ${status.message}`).toBe(placement === null);
          const unmet = waitsOf(name).filter((wait) => !isMet(wait));
          if (isHeld) expect(unmet, `${name}: ${status.message}`).not.toEqual([]);
          for (const wait of isHeld ? unmet : []) expect(status.message).toContain(wait.configuration);
        }
        const stopped = plane.stop();
        await clock.advance(20_000);
        await stopped;
      },
    ),
    { numRuns: RUNS },
  );
});

it('finds a circle exactly where a content waits for itself', () => {
  fc.assert(
    fc.property(graphs, (edges) => {
      const contents = new Map(
        NAMES.map((name, index) => {
          const own = edges.filter(({ from }) => from === index);
          return [
            name,
            { name, waitsFor: own.map(({ to, until }) => ({ configuration: NAMES[to] ?? '', until })) },
          ];
        }),
      );
      for (const content of contents.values()) {
        const reached = new Set<string>();
        const visit = (name: string): void => {
          for (const { configuration } of contents.get(name)?.waitsFor ?? [])
            if (!reached.has(configuration)) visit([...reached.add(configuration)].at(-1) ?? '');
        };
        visit(content.name);
        const fault = circleFault(content, (name) => contents.get(name));
        expect(fault !== undefined).toBe(reached.has(content.name));
        const chain = /circle: (.*)\. Each/.exec(fault ?? '')?.[1]?.split(' -> ') ?? [];
        for (const [index, name] of chain.slice(1).entries())
          expect(contents.get(chain[index] ?? '')?.waitsFor.map((one) => one.configuration)).toContain(name);
      }
    }),
  );
});
