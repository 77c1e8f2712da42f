/** Shows directories that static instances left. */
import type { LeftDirectories } from '../../model/run/left-directory.js';
import { durationText } from '../../model/words.js';
import { tableOf, type View } from '../command.js';

const HEAD = ['DIRECTORY', 'NODE', 'CONFIGURATION', 'LEFT', 'SIZE'];
const MB = 1024 * 1024;

/** The left directories of one configuration; `configuration` undefined: all. */
export function leftOf(found: LeftDirectories, configuration: string | undefined): LeftDirectories {
  if (configuration === undefined) return found;
  const directories = found.directories.filter((one) => one.configurationName === configuration);
  return { ...found, directories };
}

/** The directories as a table; below it the nodes that did not answer. */
export function leftText({ directories, silent }: LeftDirectories, view: View): string {
  const rows = directories.map(({ id, nodeId, configurationName, leftAt, sizeBytes }) => [
    id,
    nodeId,
    configurationName ?? '-',
    leftAt === null ? '-' : `${durationText(view.now - leftAt)} ago`,
    sizeBytes === null ? '-' : sizeText(sizeBytes),
  ]);
  const none = 'no static instance that is gone has left a directory';
  const table = tableOf(view, HEAD, rows, none);
  const unknown = silent.map(({ nodeId, why }) => `what node ${nodeId} has is not known: ${why}`);
  return unknown.length === 0 ? table : [table, '', ...unknown].join('\n');
}

function sizeText(bytes: number): string {
  return bytes < MB ? `${Math.ceil(bytes / 1024)} KB` : `${Math.round(bytes / MB)} MB`;
}
