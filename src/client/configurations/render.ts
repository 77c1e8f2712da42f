/** `render`: prints configurations with all that they extend, as a master would take them. */
import { readContent } from '../../command-tree/runs/api-calls.js';
import { usageError } from '../../command-tree/runs/client-error.js';
import type { ClientHost, ClientOptions } from '../commands/client-host.js';
import { readDocuments, requireValid } from './documents.js';

export interface RenderOptions extends ClientOptions {
  readonly filename?: readonly string[];
}

/** Prints what a master has in force of a configuration, or what files say. Throws a ClientError. */
export async function render(
  host: ClientHost,
  name: string | undefined,
  options: RenderOptions,
): Promise<void> {
  const { filename, output } = options;
  const contents: object[] = [];
  if (name !== undefined && filename === undefined) {
    const { content } = await readContent(await host.open(options), name);
    contents.push({ name, ...content });
  } else if (name === undefined && filename !== undefined) {
    const read = await readDocuments(filename, host.surroundings.readInput);
    const valid = requireValid(read, 'nothing was printed', await host.sayer());
    contents.push(...valid.map((document) => ({ name: document.name, ...document.content })));
  } else throw usageError('name a configuration of the master, or files with -f');
  const shown = {
    json: () => (contents.length === 1 ? contents[0] : contents),
    text: () => contents.map((content) => JSON.stringify(content, null, 2)).join('\n'),
    names: undefined,
  };
  await host.print(shown, output, Date.now());
}
