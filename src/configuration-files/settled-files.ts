/**
 * The view of the directory that decisions are made from. A valid file counts at once. A broken or missing one
 * counts only when two looks agree, because an editor or a checkout passes through both for a moment.
 */
import { circleFault } from '../model/plain/waits-circle.js';
import { faultOf, type Reading } from './directory.js';

/** The number of looks after which a file that keeps changing is believed as it is. */
const MAX_LOOKS = 50;
const ABSENT = 'absent';

interface Suspicion {
  readonly signature: string;
  readonly looks: number;
  /** The number of the last suspicious reading. */
  readonly number: number;
}

interface ReadingOrder {
  /** The number of the reading, in the order in which readings began. */
  readonly number: number;
  /** True when broken and missing files are believed without a second look. */
  readonly isFinal: boolean;
}

export class SettledFiles {
  readonly #files = new Map<string, Reading>();
  /** As `#files`, with a fault for each file whose configuration waits in a circle. */
  #shown: ReadonlyMap<string, Reading> = this.#files;
  readonly #suspicions = new Map<string, Suspicion>();
  /** The number of the reading that was believed last, by file name. */
  readonly #believed = new Map<string, number>();

  /** The believed readings, by file name. */
  get files(): ReadonlyMap<string, Reading> {
    return this.#shown;
  }

  /** Files that looked broken or gone once and wait for a second look: a write may be under way. */
  get suspects(): readonly string[] {
    return [...this.#suspicions.keys()];
  }

  /**
   * Takes readings; undefined: no such file. Readings may overlap: an older one is ignored once a newer one of the same
   * file was believed.
   */
  take(readings: ReadonlyMap<string, Reading | undefined>, { number, isFinal }: ReadingOrder): void {
    for (const [file, reading] of readings) {
      if ((this.#believed.get(file) ?? 0) > number) continue;
      if (isFinal || reading?.kind === 'valid' || this.#isConfirmed(file, reading, number))
        this.#set(file, reading, number);
    }
    this.#shown = withoutCircles(this.#files);
  }

  #set(file: string, reading: Reading | undefined, number: number): void {
    this.#believed.set(file, number);
    if ((this.#suspicions.get(file)?.number ?? 0) <= number) this.#suspicions.delete(file);
    if (reading === undefined) this.#files.delete(file);
    else this.#files.set(file, reading);
  }

  #isConfirmed(file: string, reading: Reading | undefined, number: number): boolean {
    const signature = reading?.signature ?? ABSENT;
    const settled = this.#files.get(file);
    // Ignore a late hint about a file that is known to be gone.
    if (settled === undefined && reading === undefined) return true;
    if (settled?.kind === 'broken' && settled.signature === signature) return true;
    const suspicion = this.#suspicions.get(file);
    const looks = (suspicion?.looks ?? 0) + 1;
    if (suspicion?.signature === signature || looks >= MAX_LOOKS) return true;
    this.#suspicions.set(file, { signature, looks, number });
    return false;
  }
}

/** The files, with a fault for each whose configuration waits in a circle. */
function withoutCircles(files: ReadonlyMap<string, Reading>): ReadonlyMap<string, Reading> {
  const valid = [...files.values()].flatMap((one) => (one.kind === 'valid' ? [one.parsed] : []));
  const byName = new Map(valid.map(({ configuration }) => [configuration.name, configuration]));
  const judged = ([file, reading]: [string, Reading]): [string, Reading] => {
    if (reading.kind === 'broken') return [file, reading];
    const { configuration } = reading.parsed;
    const fault = circleFault(configuration, (name) => byName.get(name));
    if (fault === undefined) return [file, reading];
    const error = { ...faultOf(file, fault), name: configuration.name, field: 'waitsFor' };
    return [file, { kind: 'broken', signature: reading.signature, error }];
  };
  return new Map([...files].map(judged));
}
