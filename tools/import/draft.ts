/**
 * The drafts that a mapping makes of a source, before they are compared with the target: pure values for `judge.ts`.
 */
import type { FieldReport } from './report.js';

/** The fields of a file of Drover, not checked yet. */
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
  /** The absolute path of the tree. */
  readonly directory: string;
  readonly fields: readonly FieldReport[];
}

/** A thing of the source that cannot be mapped, and the reason. */
interface RefusedDraft {
  readonly kind: 'refused';
  readonly what: 'node' | 'configuration' | 'template';
  readonly from: string;
  /** The path in the root; '': the thing has no place there. */
  readonly to: string;
  readonly reason: string;
}

/** The result of a mapping of one thing of the source; the reader adds the kind and the place. */
export type Mapped<Of extends ConfigurationDraft | NodeDraft> = Omit<Of, 'kind' | 'from'>;

export type Draft = ConfigurationDraft | NodeDraft | TemplateDraft | RefusedDraft;

export interface Drafts {
  readonly drafts: readonly Draft[];
  readonly notes: readonly string[];
}
