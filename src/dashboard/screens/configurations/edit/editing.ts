/**
 * The editing of one configuration: its text is judged, reviewed and saved, and somebody else may change the file
 * meanwhile.
 */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { JudgedText } from '../../../../operations/configuration-content.js';
import type { ChangePlan } from '../../../../operations/plan/change-plan.js';
import { ApiFailure } from '../../../api/api-client.js';
import type { EditedText, Stored } from '../../../parts/editor/edited-text.js';
import type { Fault } from '../../../parts/editor/editor-setup.js';
import type { ContentCalls } from './content.js';

interface ConflictFacts {
  /** The text of somebody else; null: the configuration was deleted. */
  readonly theirs: Stored | null;
}

export class Editing {
  readonly edited: EditedText;
  readonly #content: ContentCalls;
  /** Revisions that this page has read or written. Any other revision is somebody else's. */
  readonly #known = new Set<string | null>();
  readonly #judged = signal<JudgedText | null>(null);
  /** The judgement of the text as it was last judged; null: it was not judged yet. */
  readonly judged: ReadonlySignal<JudgedText | null> = this.#judged;
  readonly #plan = signal<ChangePlan | null>(null);
  /** The plan of the save, while the person reviews it. */
  readonly plan: ReadonlySignal<ChangePlan | null> = this.#plan;
  readonly #conflict = signal<ConflictFacts | null>(null);
  readonly conflict: ReadonlySignal<ConflictFacts | null> = this.#conflict;
  readonly #isBusy = signal(false);
  readonly isBusy: ReadonlySignal<boolean> = this.#isBusy;

  constructor(content: ContentCalls, edited: EditedText) {
    this.#content = content;
    this.edited = edited;
    this.#known.add(edited.base.peek().revision);
  }

  /** Whether somebody else has made this revision. */
  isNews(revision: string): boolean {
    return !this.#isBusy.value && !this.#known.has(revision);
  }

  async judge(text: string): Promise<readonly Fault[]> {
    const judged = await this.#content.judge(text);
    if (text === this.edited.text.peek()) this.#judged.value = judged;
    const faults = (
      { line, column, field, message }: JudgedText['problems'][number],
      isWarning: boolean,
    ) => ({
      line,
      column,
      message: field === '' ? message : `${field}: ${message}`,
      isWarning,
    });
    return [
      ...judged.problems.map((one) => faults(one, false)),
      ...judged.warnings.map((one) => faults(one, true)),
    ];
  }

  /** Judges the text and shows the plan of its save. Returns how many problems keep it from being saved. */
  review(): Promise<number> {
    return this.#busy(async () => {
      const text = this.edited.text.peek();
      const judged = await this.#content.judge(text);
      this.#judged.value = judged;
      if (judged.problems.length === 0) this.#plan.value = await this.#content.plan(text);
      return judged.problems.length;
    });
  }

  closeReview(): void {
    this.#plan.value = null;
  }

  closeConflict(): void {
    this.#conflict.value = null;
  }

  /**
   * Saves the reviewed text. Returns false when somebody else has changed the content, and `conflict` has that text.
   * Throws ApiFailure.
   */
  save(): Promise<boolean> {
    return this.#busy(async () => {
      const text = this.edited.text.peek();
      try {
        await this.#content.write(text, this.edited.base.peek().revision);
      } catch (error) {
        if (!(error instanceof ApiFailure) || error.status !== 412) throw error;
        this.#plan.value = null;
        await this.#compare();
        return false;
      }
      const stored = await this.#content.read();
      this.#known.add(stored?.revision ?? null);
      this.edited.rebase({ text, revision: stored?.revision ?? null });
      this.#plan.value = null;
      return true;
    });
  }

  /** Shows the text of somebody else beside this one. */
  compare(): Promise<void> {
    return this.#busy(() => this.#compare());
  }

  /** Takes the text of somebody else, and drops what this person typed. */
  takeTheirs(theirs: Stored): void {
    this.#known.add(theirs.revision);
    this.#conflict.value = null;
    if (theirs.text === this.edited.text.peek()) this.edited.rebase(theirs);
    else this.edited.take(theirs);
  }

  /** Reads the content again. */
  refresh(): Promise<void> {
    return this.#busy(async () => {
      const theirs = await this.#content.read();
      if (theirs !== null && !this.edited.isDirty.peek()) this.takeTheirs(theirs);
    });
  }

  /** Saves this text over the text that was shown as theirs. Returns false when that text has changed, too. */
  async keepMine(theirs: Stored | null): Promise<boolean> {
    const { text } = this.edited.base.peek();
    const revision = theirs?.revision ?? null;
    this.#known.add(revision);
    this.edited.rebase(theirs ?? { text, revision });
    this.#conflict.value = null;
    return await this.save();
  }

  async #compare(): Promise<void> {
    this.#conflict.value = { theirs: await this.#content.read() };
  }

  async #busy<T>(work: () => Promise<T>): Promise<T> {
    this.#isBusy.value = true;
    try {
      return await work();
    } finally {
      this.#isBusy.value = false;
    }
  }
}
