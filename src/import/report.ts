/**
 * What an import says of each thing that it read: where it goes, and what became of each of its fields. The mappings
 * fill it, `report-text.ts` prints it. It holds no values of environments and properties: they may be secrets.
 */

/**
 * `taken`: as it was. `changed`: with another value or another effect. `added`: Drover needs it, or its default differs.
 * `left`: Drover has no counterpart.
 */
export type FieldOutcome = 'taken' | 'changed' | 'added' | 'left';

export interface FieldReport {
  /** Its name in the source; for `added` its name in Drover. */
  readonly field: string;
  readonly outcome: FieldOutcome;
  /** What was changed, or what to do; '' for `taken`. */
  readonly note: string;
}

/**
 * `new`: it is written. `same`: the root has it already. `kept`: the root has another one of that name, which stays.
 * `refused`: Drover cannot have it as it is.
 */
export type ItemState = 'new' | 'same' | 'kept' | 'refused';

export interface ItemReport {
  readonly kind: 'node' | 'configuration' | 'template';
  /** Below the directory that was read, or in the file that was read. */
  readonly from: string;
  /** Below the root. */
  readonly to: string;
  readonly state: ItemState;
  /** Why it is kept or refused, and what to do; '' otherwise. */
  readonly reason: string;
  readonly fields: readonly FieldReport[];
  /** What Drover itself warns of in the result. */
  readonly warnings: readonly string[];
}

export interface ImportReport {
  readonly formatVersion: 1;
  readonly source: 'universe' | 'pm2';
  readonly from: string;
  readonly root: string;
  readonly dryRun: boolean;
  readonly items: readonly ItemReport[];
  /** What lies beside, without a counterpart; and what to do next. */
  readonly notes: readonly string[];
}

/** Collects what became of the fields of one thing. */
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
