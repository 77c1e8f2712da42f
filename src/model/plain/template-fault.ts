/** How faults of a master's files name a template: by its directory. No configuration file has a slash in its name. */
const TEMPLATES = 'templates/';

/** `name`: `<group>/<name>`. */
export function templatePath(name: string): string {
  return TEMPLATES + name;
}

/** True where the fault is of a template, and of no configuration. */
export function isOfTemplate({ file }: { readonly file: string }): boolean {
  return file.startsWith(TEMPLATES);
}
