/** Turns the form for a new key into the body that the API takes. Pure. */
import type { NewKeyRequest } from '../../../../api/routes/key-routes.js';
import { NAME } from '../../../../model/plain/name.js';
import { text } from '../text.js';

export interface KeyForm {
  readonly label: string;
  readonly scope: NewKeyRequest['scope'];
  /** The name patterns, separated by commas or blanks; '': all configurations. */
  readonly configurations: string;
  readonly expires: string;
  /** The addresses or ranges, separated by commas or blanks; '': any address. */
  readonly from: string;
}

export const SCOPES = ['READ', 'PLAN', 'OPERATE', 'CONFIGURE', 'SECRETS', 'ALL', 'PUBLIC'] as const;

/** Why the label is refused; null: the label is good. The API judges the other fields. */
export function labelProblem({ label }: Pick<KeyForm, 'label'>): string | null {
  if (label.trim() === '') return text.labelMissing;
  return NAME.test(label.trim()) ? null : text.labelWrong;
}

export function keyPayload({ label, scope, configurations, expires, from }: KeyForm): NewKeyRequest {
  return { label: label.trim(), scope, configurations: listOf(configurations), expires, from: listOf(from) };
}

function listOf(value: string): string[] | null {
  const parts = value.split(/[\s,]+/).filter((part) => part !== '');
  return parts.length === 0 ? null : parts;
}
