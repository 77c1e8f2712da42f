/** One file of one template, as clients name it: checked before anything is opened. */
import { DroverError, invalidRequest } from '../../model/errors.js';
import { nameSchema } from '../../model/names.js';
import { objectionTo } from './path-objection.js';

/** One file of one template, checked. */
export interface FilePlace {
  readonly group: string;
  readonly name: string;
  /** The names of the directories from the template down to the file. */
  readonly directories: readonly string[];
  readonly base: string;
  /** `file config/a.txt of template games/lobby`, for messages. */
  readonly label: string;
}

/** Checks group, name and path. Throws DRV_REQUEST_INVALID for a bad group or name, DRV_PATH_UNSAFE for a bad path. */
export function filePlace(group: string, name: string, path: string): FilePlace {
  checkTemplateName(group, name);
  const objection = objectionTo(path);
  if (objection !== undefined)
    throw new DroverError(
      'DRV_PATH_UNSAFE',
      `the path of the file ${objection}: give one relative to the template, such as config/server.properties`,
    );
  const directories = path.split('/');
  const base = directories.pop() ?? '';
  return { group, name, directories, base, label: `file ${path} of template ${group}/${name}` };
}

/**
 * Checks the names. Throws DRV_REQUEST_INVALID. A name that passes can be joined to a directory without escaping it.
 */
export function checkTemplateName(group: string, name: string): void {
  for (const [field, value] of Object.entries({ group, name })) {
    const parsed = nameSchema.safeParse(value);
    if (!parsed.success) throw invalidRequest(`${field}: ${parsed.error.issues[0]?.message}`);
  }
}
