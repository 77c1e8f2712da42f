/** What `apply`, `diff`, `validate` and `delete -f` do. Nothing is written before all that was read is known to be valid. */
import { describeFileError } from '../../command-tree/file-errors.js';
import { ClientError, EXIT } from '../client-error.js';
import { applyAll, planAll } from '../configurations/apply.js';
import { appliedText, comparedText } from '../configurations/change-text.js';
import { compareAll, requireValid, warningText } from '../configurations/compare.js';
import { deleteAll, deletedText } from '../configurations/delete.js';
import { type Document, readDocuments } from '../configurations/documents.js';
import type { ClientHost } from './client-host.js';
import type { ApplyOptions, DeleteOptions, DiffOptions, FileOptions } from './file-commands.js';

/** The most names in a question. */
const MOST_NAMED = 10;

/** Throws a ClientError. */
export async function apply(host: ClientHost, options: ApplyOptions): Promise<void> {
  const say = await host.sayer();
  const { valid, api } = await open(host, options, 'nothing was written');
  const compared = await compareAll(api, valid, { say, showValues: options.showValues });
  const isDry = options.dryRun === true;
  const { applied, exitCode } = isDry
    ? { applied: planAll(compared), exitCode: 0 }
    : await applyAll(api, compared);
  const suffix = isDry ? ' (dry run)' : '';
  const shown = {
    json: () => applied,
    text: () => applied.map((one) => `${appliedText(one)}${suffix}`).join('\n'),
    names: () => applied.map(({ name }) => name),
  };
  await host.print(shown, options.output, api.now);
  const missing = applied.filter(({ error, result }) => error !== null || result === 'skipped').length;
  if (exitCode !== 0)
    throw new ClientError(exitCode, `${missing} of ${applied.length} configurations were not written`);
}

/** Throws a ClientError, with exit code 2 for changes when that was asked for. */
export async function diff(host: ClientHost, options: DiffOptions): Promise<void> {
  const { valid, api } = await open(host, options, 'nothing was compared');
  const { showValues } = options;
  const compared = await compareAll(api, valid, { say: await host.sayer(), showValues });
  const changed = compared.filter(({ change }) => change.change !== 'unchanged');
  const shown = {
    json: () => compared.map(({ document: { file }, change }) => ({ file, ...change })),
    text: () => changed.flatMap(comparedText).join('\n'),
    names: () => changed.map(({ document: { name } }) => name),
  };
  await host.print(shown, options.output, api.now);
  if (changed.length > 0 && options.detailedExitcode === true) throw new ClientError(EXIT.changes, '');
}

/** Asks no master. Throws a ClientError when a configuration is not valid. */
export async function validate(host: ClientHost, { filename, output }: FileOptions): Promise<void> {
  const { valid, faults } = await readDocuments(filename, host.surroundings.readInput);
  const warnings = valid.flatMap((document) =>
    document.warnings.map((warning) => ({ ...warning, file: document.file, name: document.name })),
  );
  const lines = [
    ...faults.map(describeFileError),
    ...valid.flatMap((document) =>
      document.warnings.map((warning) => `warning: ${warningText(document, warning)}`),
    ),
  ];
  const total = valid.length + faults.length;
  const summary = `${valid.length} of ${total} ${total === 1 ? 'configuration is' : 'configurations are'} valid`;
  const shown = {
    json: () => ({ valid: valid.map(({ name, file }) => ({ name, file })), errors: faults, warnings }),
    text: () => (faults.length === 0 ? [...lines, summary] : lines).join('\n'),
    names: undefined,
  };
  await host.print(shown, output, Date.now());
  if (faults.length > 0) throw new ClientError(EXIT.failed, summary);
}

/** Throws a ClientError. */
export async function remove(
  host: ClientHost,
  options: DeleteOptions & Pick<FileOptions, 'filename'>,
): Promise<void> {
  const { valid, api } = await open(host, options, 'nothing was deleted');
  const names = valid.map(({ name }) => name);
  await host.confirm({ what: `${which(names)} deleted; instances stay`, list: [] }, api, options);
  const { deleted, exitCode } = await deleteAll(api, names, options.ignoreNotFound === true);
  const shown = {
    json: () => deleted,
    text: () => deleted.map(deletedText).join('\n'),
    names: () => deleted.filter(({ result }) => result === 'deleted').map(({ name }) => name),
  };
  await host.print(shown, options.output, api.now);
  const missing = deleted.filter(({ result }) => result !== 'deleted').length;
  if (exitCode !== 0)
    throw new ClientError(exitCode, `${missing} of ${names.length} configurations were not deleted`);
}

function which(names: readonly string[]): string {
  if (names.length === 1) return `configuration ${names[0]} is`;
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return `configurations ${names.slice(0, MOST_NAMED).join(', ')}${more} are`;
}

/** Reads and judges first: a file that is wrong needs no master to be said. */
async function open(host: ClientHost, options: FileOptions, undone: string) {
  const read = await readDocuments(options.filename, host.surroundings.readInput);
  const valid: readonly Document[] = requireValid(read, undone, await host.sayer());
  return { valid, api: await host.open(options) };
}
