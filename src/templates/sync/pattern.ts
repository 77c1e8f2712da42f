/** Matches the templates that a pattern of `template sync` means: `group/name`, `group/*` or `*`. Pure. */
import { invalidRequest } from '../../model/errors.js';
import { NAME } from '../../model/plain/name.js';

export interface TemplateName {
  readonly group: string;
  readonly name: string;
}

/** The test for a pattern. Throws DRV_REQUEST_INVALID for a text that is not a pattern. */
export function matcherOf(pattern: string): (template: TemplateName) => boolean {
  if (pattern === '*') return () => true;
  const [group = '', name = '', ...more] = pattern.split('/');
  const isPattern = more.length === 0 && NAME.test(group) && (name === '*' || NAME.test(name));
  if (!isPattern)
    throw invalidRequest(
      'pattern: must be group/name, group/* (all templates of a group) or * (all templates)',
    );
  return (template) => template.group === group && (name === '*' || template.name === name);
}
