/** A file, the overrides of callers and managed fields: which value is in force, and which override has ended. */
import { describe, expect, it } from 'vitest';
import { validateConfiguration } from '../../../src/configuration-files/parse.js';
import {
  type ConfigurationOverrides,
  configurationOverridesSchema,
  fileOf,
  type OverriddenState,
  shownOverrides,
  withFile,
  withoutOverride,
  withRemoval,
  withWrite,
} from '../../../src/model/configuration-overrides.js';

const recordOf = (fields: object) => {
  const { configuration, hash } = validateConfiguration('a', { command: 'run', ...fields });
  return { configuration, hash, sourceFile: 'a.json', sourceNode: 'n1' };
};
const NOTHING: OverriddenState = { record: undefined, overrides: undefined };

/** The store's records after a walk of steps; each goes through JSON, as in the store. */
class Walk {
  #state = NOTHING;
  ended: string[] = [];

  file(fields: object): this {
    const { ended, ...state } = withFile(recordOf(fields), this.#state, 1);
    this.ended = ended.map(({ field, mark }) => `${field} by ${mark.by}`);
    return this.#is(state);
  }

  write(fields: object, by = 'ops'): this {
    return this.#is(withWrite(recordOf(fields), this.#state, { by, at: 2, reason: 'peak' }));
  }

  remove(): this {
    return this.#is(withRemoval(this.#state, { by: 'ops', at: 3, reason: null }));
  }

  reset(field?: string): this {
    const content = withoutOverride(this.#state, field);
    return content === undefined ? this : this.write(content, 'reset');
  }

  get state(): OverriddenState {
    return this.#state;
  }

  /** `ramMB cpu minimum`; `gone`: not in force. */
  get inForce(): string {
    const found = this.#state.record?.configuration;
    return found === undefined ? 'gone' : `${found.ramMB} ${found.cpu} ${found.minimumServiceCount}`;
  }

  get overrides(): string[] {
    const { overrides } = this.#state;
    return overrides === undefined
      ? []
      : shownOverrides('a', overrides).map(
          ({ is, field, fileValue, value, by, isManaged }) =>
            `${field ?? is} ${fileValue} -> ${value} by ${by}${isManaged ? ' managed' : ''}`,
        );
  }

  #is({ record, overrides }: OverriddenState): this {
    const kept: ConfigurationOverrides | undefined =
      overrides && configurationOverridesSchema.parse(JSON.parse(JSON.stringify(overrides)));
    this.#state = { record, overrides: kept };
    return this;
  }
}

const file = { ramMB: 10, cpu: 20 };

describe('overrides of a configuration', () => {
  it('are what a write has other than the file, each with its author', () => {
    const walk = new Walk().file(file).write({ ...file, minimumServiceCount: 3 });
    expect(walk.inForce).toBe('10 20 3');
    expect(walk.overrides).toEqual(['minimumServiceCount 1 -> 3 by ops']);
    walk.write({ ...file, cpu: 30, minimumServiceCount: 3 }, 'other');
    expect(walk.overrides).toEqual(['cpu 20 -> 30 by other', 'minimumServiceCount 1 -> 3 by ops']);
  });

  it('end when the file changes that field, and stay when it changes another', () => {
    const walk = new Walk().file(file).write({ ...file, cpu: 30, minimumServiceCount: 3 });
    walk.file({ ...file, ramMB: 11 });
    expect([walk.inForce, walk.ended]).toEqual(['11 30 3', []]);
    walk.file({ ...file, ramMB: 11, cpu: 21 });
    expect([walk.inForce, walk.ended]).toEqual(['11 21 3', ['cpu by ops']]);
    walk.file({ ...file, ramMB: 11, cpu: 21, minimumServiceCount: 3 });
    expect([walk.inForce, walk.ended, walk.overrides]).toEqual(['11 21 3', [], []]);
  });

  it('end when a write says what the file says, and by a reset of one field or of all', () => {
    const changed = { ...file, cpu: 30, minimumServiceCount: 3 };
    expect(new Walk().file(file).write(changed).write(file).state.overrides).toBeUndefined();
    const walk = new Walk().file(file).write(changed).reset('cpu');
    expect([walk.inForce, walk.overrides]).toEqual(['10 20 3', ['minimumServiceCount 1 -> 3 by ops']]);
    expect(walk.reset('cpu').overrides).toHaveLength(1);
    expect(walk.reset().overrides).toEqual([]);
  });

  it('may take a field away, and the file may bring it', () => {
    const walk = new Walk().file({ ...file, onDelete: 'stop' }).write(file);
    expect(walk.state.record?.configuration.onDelete).toBeUndefined();
    expect(walk.overrides).toEqual(['onDelete "stop" -> null by ops']);
    walk.file({ ...file, onDelete: 'keep' });
    expect(walk.state.record?.configuration.onDelete).toBe('keep');
  });

  it('keep a removed configuration away until the file changes', () => {
    const walk = new Walk().file(file).remove();
    expect([walk.inForce, walk.overrides]).toEqual(['gone', ['absent null -> null by ops']]);
    expect(walk.file(file).inForce).toBe('gone');
    expect(walk.file({ ...file, cpu: 21 })).toMatchObject({ inForce: '10 21 1', ended: ['null by ops'] });
    expect(walk.remove().reset().inForce).toBe('10 21 1');
    expect(walk.remove().write({ ...file, cpu: 22 }).overrides).toEqual(['cpu 21 -> 22 by ops']);
  });

  it('are not there for a configuration that a caller made, until a file comes', () => {
    const walk = new Walk().write(file).write({ ...file, cpu: 21 }, 'other');
    expect([walk.inForce, walk.overrides]).toEqual(['10 21 1', ['made null -> null by ops']]);
    expect(fileOf(walk.state)).toBeUndefined();
    expect(walk.remove().state).toEqual(NOTHING);
    expect(walk.write(file).file({ ...file, cpu: 5 })).toMatchObject({ inForce: '10 5 1', overrides: [] });
  });

  it('leave managed fields to callers, from the first value on', () => {
    const managed = { ...file, managed: ['minimumServiceCount'] };
    const walk = new Walk().file({ ...managed, minimumServiceCount: 2 });
    expect(walk.inForce).toBe('10 20 2');
    walk.file({ ...managed, minimumServiceCount: 9, cpu: 21 });
    expect(walk.inForce).toBe('10 21 2');
    walk.write({ ...file, cpu: 21, minimumServiceCount: 4 });
    walk.file({ ...managed, minimumServiceCount: 1 });
    expect(walk.inForce).toBe('10 20 4');
    expect(walk.overrides).toEqual(['minimumServiceCount 1 -> 4 by ops managed']);
    expect(walk.state.record?.configuration.managed).toEqual(['minimumServiceCount']);
    // Without "managed" the override is like any other.
    expect(walk.file(file).inForce).toBe('10 20 4');
    expect(walk.file({ ...file, minimumServiceCount: 5 }).inForce).toBe('10 20 5');
  });

  it('end where the file no longer allows them', () => {
    const walk = new Walk().file(file).write({ ...file, cpu: 30, minimumServiceCount: 5 });
    walk.file({ ...file, maximumServiceCount: 2 });
    expect([walk.inForce, walk.ended]).toEqual(['10 30 1', ['minimumServiceCount by ops']]);
  });
});
