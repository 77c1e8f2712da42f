/**
 * The report of an import: where each thing goes, and what became of each of its fields. The mappings fill it,
 * `import.ts` prints it. It holds no values of environments and properties, which may be secrets.
 */

/**
 * `taken`: unchanged. `changed`: with another value or another effect. `added`: Drover needs it, or has another
 * default. `left`: Drover has no counterpart.
 */
export type FieldOutcome = 'taken' | 'changed' | 'added' | 'left';

export interface FieldReport {
  /** The name in the source; for `added` the name in Drover. */
  readonly field: string;
  readonly outcome: FieldOutcome;
  /** The change, or what to do; '' for `taken`. */
  readonly note: string;
}

/**
 * `new`: the import writes it. `same`: the root has it already. `kept`: the root has another thing of that name, which
 * stays. `refused`: Drover does not accept it.
 */
export type ItemState = 'new' | 'same' | 'kept' | 'refused';

export interface ItemReport {
  readonly kind: 'node' | 'configuration' | 'template';
  /** The path below the directory that was read, or the place in the file that was read. */
  readonly from: string;
  /** The path below the root. */
  readonly to: string;
  readonly state: ItemState;
  /** The reason why the item is kept or refused, and what to do; '' for other items. */
  readonly reason: string;
  readonly fields: readonly FieldReport[];
  /** The warnings that Drover itself gives for the result. */
  readonly warnings: readonly string[];
}

export interface ImportReport {
  readonly formatVersion: 1;
  readonly source: 'universe' | 'pm2';
  readonly from: string;
  readonly root: string;
  readonly dryRun: boolean;
  readonly items: readonly ItemReport[];
  /** Things in the source without a counterpart, and what to do next. */
  readonly notes: readonly string[];
}

/** Collects what became of each field of one thing. */
export class FieldNotes {
  readonly #reports: FieldReport[] = [];

  get reports(): readonly FieldReport[] {
    return this.#reports;
  }

  taken(field: string): void {
    this.#add(field, 'taken', '');
  }

  changed(field: string, note: string): void {
    this.#add(field, 'changed', note);
  }

  added(field: string, note: string): void {
    this.#add(field, 'added', note);
  }

  left(field: string, note: string): void {
    this.#add(field, 'left', note);
  }

  #add(field: string, outcome: FieldOutcome, note: string): void {
    this.#reports.push({ field, outcome, note });
  }
}
