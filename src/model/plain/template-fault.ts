/**
 * A fault of a template names the template's directory as its file. No configuration file has a slash in its name, so
 * the two cannot be confused.
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
