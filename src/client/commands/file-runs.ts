/**
 * Runs `apply`, `diff`, `plan`, `validate` and `delete -f`. Nothing is written before all files are known to be valid.
 */
import { basename } from 'node:path';
import { describeFileError } from '../../command-tree/file-errors.js';
import { ClientError, EXIT, failedError } from '../../command-tree/runs/client-error.js';
import type { ConfigurationFileError } from '../../model/configuration.js';
import { circleFault } from '../../model/fields/waits-for.js';
import { countText, listText } from '../../model/words.js';
import type { ApiClient } from '../api-client.js';
import {
  appliedText,
  applyAll,
  comparedText,
  deleteAll,
  planAll,
  reportText,
} from '../configurations/apply.js';
import {
  askBeforeWrites,
  askPlan,
  othersText,
  planWarningText,
  requireNoneHeldBack,
} from '../configurations/ask-plan.js';
import {
  type Document,
  passedOverText,
  readDocuments,
  requireValid,
  warningText,
} from '../configurations/documents.js';
import { changedIn, paintedPlan, planMarkdown } from '../configurations/plan-text.js';
import type { ClientHost, ClientOptions } from './client-host.js';
import type { FileOptions } from './file-commands.js';

/** The most names that a confirmation question lists. */
const MOST_NAMED = 10;

/** Writes the files' configurations to the master. Throws a ClientError. */
export async function apply(host: ClientHost, options: FileOptions): Promise<void> {
  const say = await host.sayer();
  const { valid, api } = await open(host, options, 'nothing was written');
  const { showValues = false, prune = false, fingerprint } = options;
  const plan = await askBeforeWrites(api, valid, { prune, showValues, fingerprint });
  for (const text of othersText(plan)) say(text);
  for (const warning of plan.warnings) say(`warning: ${planWarningText(valid, warning)}`);
  const documents = new Map(valid.map((document) => [document.name, document]));
  const all = plan.configurations.map((planned) => ({ planned, document: documents.get(planned.name) }));
  const names = all.filter(({ document }) => document === undefined).map(({ planned }) => planned.name);
  const isDry = options.dryRun === true;
  if (names.length > 0 && !isDry) await confirmRemoval(host, api, names, options);
  const { reports: applied, exitCode } = isDry ? planAll(all) : await applyAll(api, all);
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
  requireNoneHeldBack(applied);
}

/**
 * Shows the plan for the files. Throws a ClientError, with exit code 8 when a content is held back, and with 2 for
 * changes when requested.
 */
export async function plan(host: ClientHost, options: FileOptions): Promise<void> {
  const { prune = false, showValues = false } = options;
  // The content of a broken file is not known: with --prune, its configuration would be planned to go.
  const { valid, faults, api } = await open(host, options, 'nothing was planned', !prune);
  const { others, ...rest } = await askPlan(api, valid, { prune, showValues });
  const broken = new Set(faults.map(({ file, name }) => name ?? basename(file, '.json')));
  const planned = { ...rest, others: others?.filter((name) => !broken.has(name)) ?? [] };
  const shown = {
    json: () => planned,
    text: () => paintedPlan(planned),
    markdown: () => planMarkdown(planned),
    names: undefined,
  };
  await host.print(shown, options.output, api.now);
  if (faults.length > 0)
    throw failedError(`${countText(faults.length, 'file')} not valid, and not in the plan`);
  requireNoneHeldBack(planned.configurations);
  if (changedIn(planned).length > 0 && options.detailedExitcode === true)
    throw new ClientError(EXIT.changes, '');
}

/** Shows what the files would change. Throws a ClientError, with exit code 2 for changes when requested. */
export async function diff(host: ClientHost, options: FileOptions): Promise<void> {
  const { valid, api } = await open(host, options, 'nothing was compared');
  const { showValues = false } = options;
  const { configurations, warnings } = await askBeforeWrites(api, valid, { prune: false, showValues });
  const say = await host.sayer();
  for (const warning of warnings) say(`warning: ${planWarningText(valid, warning)}`);
  const all = configurations.map((planned, index) => ({ planned, document: valid[index] }));
  const compared = planAll(all).reports.map(({ name, file, result: change, differences }, index) => {
    const { revision = null, fileState = null } = configurations[index] ?? {};
    const own = warnings.filter(({ configurationName }) => configurationName === name);
    return { file, name, change, revision, fileState, differences, warnings: own };
  });
  const changed = compared.filter(({ change }) => change !== 'unchanged');
  const shown = {
    json: () => compared,
    text: () => changed.flatMap(comparedText).join('\n'),
    names: () => changed.map(({ name }) => name),
  };
  await host.print(shown, options.output, api.now);
  if (changed.length > 0 && options.detailedExitcode === true) throw new ClientError(EXIT.changes, '');
}

/** Checks the files without a master. Throws a ClientError when a configuration is not valid. */
export async function validate(host: ClientHost, { filename, output, strict }: FileOptions): Promise<void> {
  const read = await readDocuments(filename, host.surroundings.readInput, strict);
  const circles = circlesOf(read.valid);
  const faults = [...read.faults, ...circles];
  const valid = read.valid.filter(({ name }) => circles.every((fault) => fault.name !== name));
  const others = passedOverText(read);
  const warnings = valid.flatMap((document) =>
    document.warnings.map((warning) => ({ ...warning, file: document.file, name: document.name })),
  );
  const lines = [
    ...(others === undefined ? [] : [others]),
    ...faults.map(describeFileError),
    ...valid.flatMap((document) =>
      document.warnings.map((warning) => `warning: ${warningText(document, warning)}`),
    ),
  ];
  const total = valid.length + faults.length;
  const summary = `${valid.length} of ${total} ${total === 1 ? 'configuration is' : 'configurations are'} valid`;
  const shown = {
    json: () => ({
      valid: valid.map(({ name, file }) => ({ name, file })),
      errors: faults,
      warnings,
      passedOver: read.passedOver,
    }),
    text: () => (faults.length === 0 ? [...lines, summary] : lines).join('\n'),
    names: undefined,
  };
  await host.print(shown, output, Date.now());
  if (faults.length > 0) throw failedError(summary);
}

/** A fault for each of the configurations that waits for itself, over the others that were given. */
function circlesOf(documents: readonly Document[]): ConfigurationFileError[] {
  const byName = new Map(documents.map(({ name, configuration }) => [name, configuration]));
  return documents.flatMap(({ file, name, configuration }) => {
    const message = circleFault(configuration, (other) => byName.get(other));
    return message === undefined
      ? []
      : [{ file, name, line: null, column: null, field: 'waitsFor', message }];
  });
}

/** Deletes the configurations that the files name. Throws a ClientError. */
export async function remove(host: ClientHost, options: FileOptions): Promise<void> {
  const { valid, api } = await open(host, options, 'nothing was deleted');
  const names = valid.map(({ name }) => name);
  await confirmRemoval(host, api, names, options);
  const { reports: deleted, exitCode } = await deleteAll(api, names, options.ignoreNotFound === true);
  const shown = {
    json: () => deleted,
    text: () => deleted.map((report) => reportText(report, 'deleted')).join('\n'),
    names: () => deleted.filter(({ result }) => result === 'deleted').map(({ name }) => name),
  };
  await host.print(shown, options.output, api.now);
  const missing = deleted.filter(({ result }) => result !== 'deleted').length;
  if (exitCode !== 0)
    throw new ClientError(exitCode, `${missing} of ${names.length} configurations were not deleted`);
}

function confirmRemoval(
  host: ClientHost,
  api: ApiClient,
  names: readonly string[],
  options: ClientOptions,
): Promise<void> {
  const what = `${which(names)} deleted; instances stay, unless their onDelete is "stop"`;
  return host.confirm({ what, list: [] }, api, options);
}

function which(names: readonly string[]): string {
  if (names.length === 1) return `configuration ${names[0]} is`;
  return `configurations ${listText(names, MOST_NAMED)} are`;
}

/**
 * Reads and checks the files before it connects, so that a faulty file is reported without a master. `mayLack`: goes on
 * with the valid ones.
 */
async function open(host: ClientHost, options: FileOptions, undone: string, mayLack = false) {
  const read = await readDocuments(options.filename, host.surroundings.readInput, options.strict);
  const say = await host.sayer();
  const others = passedOverText(read);
  if (others !== undefined) say(others);
  const { faults } = read;
  if (!mayLack || read.valid.length === 0) requireValid(read, undone, say);
  for (const fault of faults) say(describeFileError(fault));
  return { valid: read.valid, faults, api: await host.open(options) };
}
