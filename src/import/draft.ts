/** What a mapping makes of a source, before anybody looked at the target: pure values for `judge.ts`. */
import type { FieldReport } from './report.js';

/** Fields of a file of Drover, not checked yet. */
export type Content = Readonly<Record<string, unknown>>;

export interface ConfigurationDraft {
  readonly kind: 'configuration';
  readonly from: string;
  readonly name: string;
  readonly content: Content;
  readonly fields: readonly FieldReport[];
}

export interface NodeDraft {
  readonly kind: 'node';
  readonly from: string;
  readonly content: Content;
  readonly fields: readonly FieldReport[];
}

export interface TemplateDraft {
  readonly kind: 'template';
  readonly from: string;
  readonly group: string;
  readonly name: string;
  /** Absolute path of the tree. */
  readonly directory: string;
  readonly fields: readonly FieldReport[];
}

/** What could be read, but not understood. */
export interface RefusedDraft {
  readonly kind: 'refused';
  readonly what: 'node' | 'configuration' | 'template';
  readonly from: string;
  /** '': it has no place in the root. */
  readonly to: string;
  readonly reason: string;
}

export type Draft = ConfigurationDraft | NodeDraft | TemplateDraft | RefusedDraft;

export interface Drafts {
  readonly drafts: readonly Draft[];
  readonly notes: readonly string[];
}
