/** Random histories of a file, writes of callers, resets and removals against a small model of each field. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { validateConfiguration } from '../../src/configuration-files/parse.js';
import {
  configurationOverridesSchema,
  type OverriddenState,
  withFile,
  withoutOverride,
  withRemoval,
  withWrite,
} from '../../src/model/configuration-overrides.js';

const FIELDS = ['ramMB', 'cpu', 'minimumServiceCount'] as const;
type Field = (typeof FIELDS)[number];
type Values = Readonly<Record<Field, number>>;

const values = fc.record({
  ramMB: fc.integer({ min: 1, max: 3 }),
  cpu: fc.integer({ min: 1, max: 3 }),
  minimumServiceCount: fc.integer({ min: 1, max: 3 }),
});
const managed = fc.subarray<Field>([...FIELDS]);
const step = fc.oneof(
  fc.record({ do: fc.constant('file' as const), values, managed }),
  fc.record({ do: fc.constant('write' as const), values }),
  fc.record({ do: fc.constant('reset' as const), field: fc.option(fc.constantFrom(...FIELDS)) }),
  fc.record({ do: fc.constant('remove' as const) }),
);

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** What an operator expects: for each field what the file says, and what a caller has said since. */
interface Model {
  readonly file: (Values & { readonly managed: readonly Field[] }) | undefined;
  readonly isAbsent: boolean;
  readonly inForce: Values | undefined;
}

function next({ file, isAbsent, inForce }: Model, now: Step): Model {
  switch (now.do) {
    case 'file': {
      const said = { ...now.values, managed: now.managed };
      const isSame = file !== undefined && FIELDS.every((field) => file[field] === said[field]);
      const sameManaged = file?.managed.join() === now.managed.join();
      if (isAbsent && isSame && sameManaged) return { file, isAbsent, inForce };
      const saidOf = (field: Field): number => {
        if (inForce === undefined || isAbsent) return said[field];
        if (now.managed.includes(field)) return inForce[field];
        return file === undefined || file[field] !== said[field] ? said[field] : inForce[field];
      };
      return { file: said, isAbsent: false, inForce: valuesBy(saidOf) };
    }
    case 'write':
      return { file, isAbsent: false, inForce: now.values };
    case 'reset': {
      if (file === undefined) return { file, isAbsent, inForce };
      if (now.field === null) return { file, isAbsent: false, inForce: valuesBy((field) => file[field]) };
      const { field } = now;
      return { file, isAbsent, inForce: inForce && { ...inForce, [field]: file[field] } };
    }
    case 'remove':
      return {
        file,
        isAbsent: file !== undefined && inForce !== undefined ? true : isAbsent,
        inForce: undefined,
      };
  }
}

function valuesBy(of: (field: Field) => number): Values {
  return {
    ramMB: of('ramMB'),
    cpu: of('cpu'),
    minimumServiceCount: of('minimumServiceCount'),
  };
}

function recordOf(content: object) {
  const { configuration, hash } = validateConfiguration('a', { command: 'run', ...content });
  return { configuration, hash, sourceFile: 'a.json', sourceNode: 'n1' };
}

it('what is in force is what the model of file and callers says, over restarts', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let state: OverriddenState = { record: undefined, overrides: undefined };
      let model: Model = { file: undefined, isAbsent: false, inForce: undefined };
      const mark = { by: 'ops', at: 1, reason: null };
      for (const now of steps) {
        model = next(model, now);
        if (now.do === 'file') state = withFile(recordOf({ ...now.values, managed: now.managed }), state, 1);
        if (now.do === 'write') state = withWrite(recordOf(now.values), state, mark);
        if (now.do === 'remove' && state.record !== undefined) state = withRemoval(state, mark);
        const content = now.do === 'reset' ? withoutOverride(state, now.field ?? undefined) : undefined;
        if (content !== undefined) state = withWrite(recordOf(content), state, mark);
        const { record, overrides } = state;
        // A restart reads the store again.
        const kept = overrides && configurationOverridesSchema.parse(JSON.parse(JSON.stringify(overrides)));
        state = { record, overrides: kept };
        const found = record?.configuration;
        expect(found && valuesBy((field) => found[field])).toEqual(model.inForce);
      }
    }),
    { numRuns: 100 },
  );
});
