/**
 * The name of a template in the faults of a master's files: its directory. No configuration file has a slash in its
 * name.
 */
const TEMPLATES = 'templates/';

/** `name`: `<group>/<name>`. */
export function templatePath(name: string): string {
  return TEMPLATES + name;
}

/** True when the fault is about a template, and not about a configuration. */
export function isOfTemplate({ file }: { readonly file: string }): boolean {
  return file.startsWith(TEMPLATES);
}
