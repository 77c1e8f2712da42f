/**
 * Judges what a start that was asked for is made from: of each template no older content than the master had when it
 * was asked. A restart after a crash may take what the last start had.
 */
import type { InstanceRecord } from '../../src/model/instance.js';
import type { SimulatedTemplates } from './machine/templates.js';

interface Due {
  readonly restartToken: number;
  /** Version of each template that was there, by name. */
  readonly versions: Map<string, number>;
}

export class FreshFiles {
  readonly #templates: SimulatedTemplates;
  /** The latest start that was asked for, by instance. */
  readonly #due = new Map<string, Due>();

  constructor(templates: SimulatedTemplates) {
    this.#templates = templates;
    // Nobody waits for a storage that fails: its copy will do for a start that has waited for its answer.
    templates.onDown((name, copied) => {
      for (const { versions } of this.#due.values())
        versions.set(name, Math.min(copied, versions.get(name) ?? 0));
    });
  }

  /** The record of an instance has changed. */
  noteRecord(before: InstanceRecord | undefined, { id, desired: { restartToken } }: InstanceRecord): void {
    if (before !== undefined && before.desired.restartToken >= restartToken) return;
    this.#due.set(id, { restartToken, versions: new Map(this.#templates.shown()) });
  }

  /** What is wrong with a start from `digests`, or undefined. */
  faultOf(id: string, restartToken: number, digests: readonly string[]): string | undefined {
    const due = this.#due.get(id);
    if (due === undefined || due.restartToken !== restartToken) return undefined;
    for (const digest of digests) {
      const { name, version } = this.#templates.versionOf(digest) ?? { name: '', version: 0 };
      const least = due.versions.get(name) ?? 0;
      if (version < least)
        return `${id} starts with version ${version} of ${name}, and was asked to with ${least}`;
    }
    return undefined;
  }
}
