/** `config ...`: what should run, which content is in force, and which files are broken. */
import { Option } from 'commander';
import type { ConfigurationReload } from '../../api/routes/configuration-file-routes.js';
import type { RolledBack } from '../../api/routes/configuration-history-routes.js';
import { fileWarningText } from '../../configuration-files/file-warnings.js';
import type { ConfigurationExplanation } from '../../explain/explanation.js';
import { HEALTH_STATES } from '../../explain/health-states.js';
import type { Configuration, ConfigurationFileError } from '../../model/configuration.js';
import type { ShownOverride } from '../../model/configuration-overrides.js';
import { MAX_SERVICE_COUNT } from '../../model/plain/command-limits.js';
import { withEveryDefault } from '../../model/plain/configuration-defaults.js';
import { WRITES_TEXT } from '../../model/plain/configuration-writes.js';
import { durationText } from '../../model/plain/duration-text.js';
import { fileInGitText } from '../../model/plain/git-words.js';
import type { ScaledConfiguration } from '../../model/plain/scaled-content.js';
import { freezeText } from '../../model/plain/schedule-text.js';
import { countText, cutText } from '../../model/words.js';
import type { ConfigurationDiff } from '../../operations/configuration-diff.js';
import type { ConfigurationDirectory } from '../../operations/configuration-file-list.js';
import type { ConfigurationSummary, RemovedConfiguration } from '../../operations/configuration-list.js';
import type { ListedOverrides } from '../../operations/configuration-overrides.js';
import type { ContentDiff, PastContent } from '../../operations/rollouts/configuration-history.js';
import type { ShownRollout } from '../../operations/rollouts/rollouts.js';
import type { FrozenConfiguration } from '../../state/schedules.js';
import { describe, messageText, type Said, type View } from '../command.js';
import { renderConfigurationExplanation } from '../explanation-text.js';
import { describeFileErrors, describeRemoved, describeWarnings } from '../file-errors.js';
import { type Columns, declareList, type ListOptions, listOf, type Orders, sortedBy } from '../list.js';
import { wholeNumber } from '../parsers.js';
import {
  describeContentDiff,
  describeDiff,
  describeHistory,
  describeRollback,
} from './configuration-diff-text.js';
import { expiresOf } from './keys.js';
import { rolloutSentence } from './rollouts.js';

const COLUMNS: Columns<ConfigurationSummary> = {
  NAME: ({ name }) => name,
  RUNTIME: ({ runtime }) => runtime,
  ONLINE: ({ online }) => online,
  INSTANCES: ({ instances }) => instances,
  MINIMUM: ({ minimum }) => minimum,
  RAM: ({ ramMB }) => `${ramMB} MB`,
  CPU: ({ cpu }) => cpu,
  PORTS: ({ ports }) => ports,
  FILE: ({ file }) => file,
  STATUS: statusOf,
};

const ORDERS: Orders<ConfigurationSummary> = {
  'not-well': ({ health }) => HEALTH_STATES.indexOf(health.state),
  name: ({ name }) => name,
  instances: ({ instances }) => -instances,
  ram: ({ ramMB }) => -ramMB,
};

const OVERRIDES: Columns<ShownOverride> = {
  CONFIGURATION: ({ configurationName }) => configurationName,
  FIELD: ({ field, is }) => field ?? (is === 'absent' ? '(removed)' : '(made here)'),
  FILE: ({ fileValue, file }) => (file === null ? 'no file' : cutText(fileValue ?? '-', MOST_VALUE_CHARS)),
  'IN FORCE': ({ value, is }) => (is === 'changed' ? cutText(value ?? '-', MOST_VALUE_CHARS) : '-'),
  BY: ({ by, isManaged }) => `${by ?? '-'}${isManaged ? ' (managed)' : ''}`,
  AGE: ({ at }, now) => durationText(now - at),
  WHY: ({ reason }) => reason,
};

const MOST_VALUE_CHARS = 40;

/** The text of `config list` for a file whose state is not in the word for the configuration's health. */
const FILE_WORDS: Readonly<Partial<Record<ConfigurationSummary['fileState'], string>>> = {
  pending: 'file pending',
  shadowed: 'file shadowed',
  conflict: 'file conflict',
};

interface ListedConfigurations {
  readonly configurations: readonly ConfigurationSummary[];
  readonly removed: readonly RemovedConfiguration[];
  readonly brokenFiles: readonly ConfigurationFileError[];
  readonly directory: ConfigurationDirectory | null;
}

/** Contents of a history are counted from 1. */
const contentNumber = wholeNumber(999_999_999);

const byName = (name: string) => ({ name });

interface Reasoned {
  readonly reason?: string;
}
const WHY = 'why, for those who read `config overrides` later';

export const CONFIGURATION_COMMANDS = {
  'config list': describe({
    about: 'all configurations, and files that are broken',
    declare: (command) => void declareList(command, ORDERS, HEALTH_STATES),
    input: (options: ListOptions) => options,
    text: (listed: ListedConfigurations, view, { sort }) =>
      describeList({ ...listed, configurations: sortedBy(listed.configurations, ORDERS, sort) }, view),
    names: ({ configurations }) => configurations.map(({ name }) => name),
  }),
  'config show': describe({
    usage: '<name>',
    about: 'the content in force, with every default',
    input: byName,
    text: (configuration: Configuration) => JSON.stringify(withEveryDefault(configuration), null, 2),
    isVerbatim: true,
    json: withEveryDefault,
    names: ({ name }) => [name],
  }),
  'config reload': describe({
    about: 'read all files again now, and say what changed',
    declare: (command) =>
      void command.option('--confirm', 'remove what has no file any more, even if that is most of all'),
    input: ({ confirm = false }: { readonly confirm?: boolean }) => ({ confirm }),
    text: (reloaded: ConfigurationReload) => describeReload(reloaded),
  }),
  'config why': describe({
    usage: '<name>',
    about: 'why its instances are as they are, and what happens next',
    input: byName,
    text: (explanation: ConfigurationExplanation, { columns }) =>
      renderConfigurationExplanation(explanation, columns),
  }),
  'config diff': describe({
    about:
      'the file and the instances against what is in force; or one content of the history against another',
    declare: (command) =>
      void command
        .argument('<name>')
        .argument('[from]', 'number of `config history`', contentNumber)
        .argument('[to]', 'default: the newest', contentNumber)
        .option(
          '--show-values',
          'show values of environmentVariables and properties that look like secrets too',
        ),
    input: (
      name: string,
      from?: number,
      to?: number,
      { showValues = false }: { readonly showValues?: boolean } = {},
    ) => ({ name, from, to, showValues }),
    text: (diff: ConfigurationDiff | ContentDiff) =>
      'differences' in diff ? describeContentDiff(diff) : describeDiff(diff),
  }),
  'config history': describe({
    usage: '<name>',
    about: 'the last 10 contents: since when, from whom, and how each of them ended',
    input: byName,
    text: (contents: readonly PastContent[], view) => describeHistory(contents, view),
  }),
  'config rollback': describe({
    about: 'bring an older content back: new instances are made from it, and running ones go back to it',
    declare: (command) =>
      void command
        .argument('<name>')
        .addOption(
          new Option(
            '--to <number>',
            'of `config history`; default: the last good one before that of the file',
          ).argParser(contentNumber),
        )
        .option('--reason <text>', 'why, for those who look later')
        .option(
          '--write',
          'write the older content into the file, instead of holding the content of the file back',
        ),
    input: (
      name: string,
      { to, reason, write = false }: { to?: number; reason?: string; write?: boolean } = {},
    ) => ({ name, to, reason, write }),
    text: (rolledBack: RolledBack) => describeRollback(rolledBack),
    names: ({ name }) => [name],
  }),
  'config restart': describe({
    usage: '<name>',
    about: 'make all its instances anew from the same content, step by step',
    input: byName,
    text: (rollout: ShownRollout) => rolloutSentence(rollout),
    names: ({ configurationName }) => [configurationName],
  }),
  'config scale': describe({
    about: 'set minimumServiceCount: so many instances are kept; 0 keeps none',
    declare: (command) =>
      void command
        .argument('<name>')
        .argument('<count>', '', wholeNumber(MAX_SERVICE_COUNT, 0))
        .option('--remove', 'end the instances above it now, those without players first')
        .option('--reason <text>', WHY),
    input: (
      name: string,
      count: number,
      { reason, remove = false }: Reasoned & { readonly remove?: boolean } = {},
    ) => ({ name, count, reason, remove }),
    text: (scaled: ScaledConfiguration) => describeScaled(scaled),
    names: ({ name }) => [name],
  }),
  'config freeze': describe({
    about: 'keep a configuration as it is: no schedule acts, no rollout begins, changes of its file wait',
    declare: (command) =>
      void command
        .argument('<name>')
        .option(
          '--until <when>',
          'a time from now (2h), a date (UTC) or an instant; default: never',
          expiresOf,
        )
        .option('--reason <text>', 'why, for those who look later'),
    input: (name: string, given: Reasoned & { readonly until?: string } = {}) => ({ name, ...given }),
    text: freezeSentence,
  }),
  'config unfreeze': describe({
    usage: '<name>',
    about: 'end the freeze of a configuration: what its file says now comes into force',
    input: byName,
    text: freezeSentence,
  }),
  'config overrides': describe({
    usage: '[name]',
    about: 'what was changed beside the files: field, both values, who, since when and why',
    input: (name?: string) => ({ name }),
    text: ({ writes, overrides }: ListedOverrides, view) =>
      `${listOf(view, OVERRIDES, overrides, 'there are no overrides')}\n${WRITES_TEXT[writes]}`,
    names: ({ overrides }) => [...new Set(overrides.map(({ configurationName }) => configurationName))],
  }),
  'config reset': describe({
    usage: '<name> [field]',
    about: 'end the override of one field, or all overrides: the file counts again',
    input: (name: string, field?: string) => ({ name, field }),
    text: (said: Said<'name'>) => messageText(said),
    names: ({ name }) => [name],
  }),
  'config delete': describe({
    about: 'remove a configuration with its file; its instances stay, unless its onDelete is "stop"',
    declare: (command) => void command.argument('<name>').option('--reason <text>', WHY),
    input: (name: string, { reason }: Reasoned = {}) => ({ name, reason }),
    text: (said: Said<'name'>) => messageText(said),
    names: ({ name }) => [name],
    destroys: ({ name }) => `configuration ${name} is deleted with its file; ${LEFT_BEHIND}`,
  }),
};

/** The `onDelete` of each instance's own revision decides whether it stays. */
const LEFT_BEHIND = 'its instances stay, unless their onDelete is "stop"';

/** The message about a configuration that was deleted. */
export function deletedText(name: string): string {
  return `configuration ${name} is deleted; ${LEFT_BEHIND}`;
}

function freezeSentence({ name, frozen }: FrozenConfiguration): string {
  return `configuration ${name} is ${frozen === null ? 'not frozen' : freezeText(frozen)}`;
}

function describeList(
  { configurations, removed, brokenFiles, directory }: ListedConfigurations,
  view: View,
): string {
  const table = listOf(view, COLUMNS, configurations, 'there are no configurations');
  const warnings = configurations.flatMap(({ name, warnings }) => warnings.map((text) => `${name}: ${text}`));
  const { writes = 'file' }: Partial<ConfigurationSummary> = configurations[0] ?? {};
  const place = writes === 'file' ? [] : [WRITES_TEXT[writes]];
  const below = [
    ...(directory?.text == null ? [] : [`git: ${directory.text}`]),
    ...describeFileErrors(brokenFiles),
    ...describeWarnings(warnings),
  ];
  return [table, ...describeRemoved(removed), ...place, ...(below.length === 0 ? [] : ['', ...below])].join(
    '\n',
  );
}

function describeScaled({ name, before, after, above, ended, note }: ScaledConfiguration): string {
  const gone = `${countText(ended?.length ?? 0, 'instance')} above it ${ended?.length === 1 ? 'ends' : 'end'} now`;
  if (before === after && ended === undefined) return `${name}: minimumServiceCount is ${after} already`;
  const rest =
    ended !== undefined ? `; ${gone}` : after < before ? `; instances above it ${ABOVE_WORDS[above]}` : '';
  return [`${name}: minimumServiceCount ${before} -> ${after}${rest}`, ...(note === null ? [] : [note])].join(
    '\n',
  );
}

const ABOVE_WORDS: Readonly<Record<ScaledConfiguration['above'], string>> = {
  stay: 'stay until they are deleted ("config scale --remove" ends them)',
  'go-empty': 'end, those with players when these have left ("surplus": "remove")',
  go: 'end ("surplus": "remove")',
};

function statusOf(summary: ConfigurationSummary, now: number): string {
  const { health, fileState, inGit, outdated, warnings } = summary;
  const { overridden = 0, overriddenSince = null, frozen }: Partial<ConfigurationSummary> = summary;
  const age = overriddenSince === null ? '' : ` for ${durationText(now - overriddenSince)}`;
  const git = fileInGitText(inGit);
  return [
    health.text,
    ...(frozen === undefined ? [] : [frozen]),
    ...(overridden === 0 ? [] : [`${countText(overridden, 'field')} overridden${age}`]),
    ...(FILE_WORDS[fileState] === undefined ? [] : [FILE_WORDS[fileState]]),
    ...(git === undefined ? [] : [git]),
    ...(warnings.length === 0 ? [] : [countText(warnings.length, 'warning')]),
    ...(outdated === 0 ? [] : [`${outdated} outdated`]),
  ].join(', ');
}

function describeReload(reloaded: ConfigurationReload): string {
  const { added, changed, removed, waiting, brokenFiles, warnings, configurations } = reloaded;
  const lines = Object.entries({ added, changed, removed, waiting })
    .filter(([, names]) => names.length > 0)
    .map(([change, names]) => `${change}: ${names.join(', ')}`);
  const total = countText(configurations, 'configuration is', 'configurations are');
  const head = lines.length === 0 ? [`nothing changed; ${total} in force`] : [...lines, `${total} in force`];
  const below = [...describeFileErrors(brokenFiles), ...describeWarnings(warnings.map(fileWarningText))];
  return [...head, ...below].join('\n');
}
