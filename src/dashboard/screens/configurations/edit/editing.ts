/** The editing of one configuration. Its text is saved as any text, and is also judged and reviewed. */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { JudgedText } from '../../../../operations/configuration-content.js';
import type { ChangePlan } from '../../../../operations/plan/change-plan.js';
import type { EditedText } from '../../../parts/editor/edited-text.js';
import { Editing } from '../../../parts/editor/editing.js';
import type { Fault } from '../../../parts/editor/editor-setup.js';
import type { ContentCalls } from './content.js';

export class ConfigurationEditing extends Editing {
  readonly #content: ContentCalls;
  readonly #judged = signal<JudgedText | null>(null);
  /** The latest judgement of the text; null: the text was not judged yet. */
  readonly judged: ReadonlySignal<JudgedText | null> = this.#judged;
  readonly #plan = signal<ChangePlan | null>(null);
  /** The plan of the save, while the person reviews it. */
  readonly plan: ReadonlySignal<ChangePlan | null> = this.#plan;

  constructor(content: ContentCalls, edited: EditedText) {
    super(content, edited);
    this.#content = content;
  }

  async judge(text: string): Promise<readonly Fault[]> {
    const judged = await this.#content.judge(text);
    if (text === this.edited.text.peek()) this.#judged.value = judged;
    const faults = (found: JudgedText['problems'], isWarning: boolean): Fault[] =>
      found.map(({ line, column, field, message }) => ({
        line,
        column,
        message: field === '' ? message : `${field}: ${message}`,
        isWarning,
      }));
    return [...faults(judged.problems, false), ...faults(judged.warnings, true)];
  }

  /** Judges the text and, if it has no problems, shows the plan of its save. Returns the number of problems. */
  review(): Promise<number> {
    return this.busy(async () => {
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

  override async save(): Promise<boolean> {
    const isSaved = await super.save();
    this.closeReview();
    return isSaved;
  }
}
