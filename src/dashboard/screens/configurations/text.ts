/** The texts of the screen Configurations. */
import type { ShownRollout } from '../../../operations/rollouts/rollouts.js';
import { count, plural } from '../../parts/amounts.js';

/** The labels of the form, by the path of their field. */
const FIELDS: Readonly<Record<string, string>> = {
  minimumServiceCount: 'Instances, at least',
  ramMB: 'RAM each, in MB',
  'availablePorts.min': 'First port',
  'availablePorts.max': 'Last port',
  'readiness.logLine': 'Line that says it is ready',
};

export const text = {
  title: 'Configurations',
  name: 'Name',
  state: 'State',
  online: 'Online',
  onlineOf: (online: number, minimum: number) => `${count(online)} of ${count(minimum)}`,
  ram: 'RAM each',
  runtime: 'Runtime',
  file: 'File',
  git: (standing: string) => `In git: ${standing}.`,
  note: 'Why',
  search: 'Find a configuration',
  searchHint: 'Name, file or command',
  noneFound: 'No configuration fits',
  clearFilter: 'Show all',
  counted: (shown: number, all: number) =>
    shown === all ? count(all) : `${count(shown)} of ${plural(all, 'configuration')}`,
  empty: 'No configurations yet',
  emptyHint: 'A configuration says what to run, and how many of it. Drover keeps that number running.',
  emptyRead: 'Your key may not create one: an operator with the scope ALL can.',

  create: 'New configuration',
  createHint: 'It begins as an example that you change. Nothing runs before you save it.',
  createName: 'Name',
  createNameHint: 'Letters, digits, ".", "_" and "-"; at most 64. Its file is called so, too.',
  createNameWrong: 'Begin with a letter or digit, then letters, digits, ".", "_" and "-"; at most 64.',
  createNameTaken: 'There is a configuration of this name.',
  createFrom: 'Begin with',
  copyOf: (name: string) => `A copy of ${name}`,
  createGo: 'Write it',
  form: {
    label: 'Form',
    noText: 'The form appears once the text is JSON.',
    fields: FIELDS,
    variables: 'Variables',
    name: 'Name of a variable',
    add: 'Add',
    remove: 'Remove',
    removeOf: (name: string) => `Remove ${name}`,
  },
  examples: {
    game: 'A game server: port, line that says it is ready, stop command',
    web: 'A web server: port, readiness over HTTP',
    worker: 'A program without a port',
    container: 'A container',
    empty: 'Only what is required',
  },

  toList: 'All configurations',
  tabs: 'Parts of this configuration',
  tabState: 'State',
  tabHistory: 'History',
  tabEdit: 'Edit',
  tabView: 'Content',
  unknown: (name: string) => `There is no configuration ${name}`,
  unknownHint: 'It was deleted, or the address is mistyped.',

  ends: 'Ended by themselves',

  overrides: 'Changed beside the file',
  overridden: (number: number) => `${plural(number, 'field')} overridden`,
  madeHere: 'Made here, no file',
  removedHere: 'Deleted, its file stays',
  managed: 'managed, since',
  setBy: (key: string) => `by ${key}, since`,
  resetField: 'Reset',
  resetAll: 'Reset all to the file',
  wasReset: 'The file counts again.',

  log: 'Log',
  add: 'New instance',
  added: (name: string) => `One more instance of ${name} is created.`,
  run: 'Run',
  runTitle: (name: string) => `Run ${name}?`,
  runExplanation: (seconds: number | undefined) =>
    seconds === undefined
      ? 'It runs once, until its program ends.'
      : `It runs once, until its program ends, ${plural(seconds, 'second')} at most.`,
  runValues: (values: readonly string[]) => `One of ${values.join(', ')}; * is any text.`,
  runMissing: 'It has no usual value: type one.',
  restart: 'Restart all',
  restartTitle: (name: string) => `Restart all instances of ${name}?`,
  restartExplanation:
    'Each is replaced by a new one of the same content, step by step, as in a rollout. These are replaced:',
  restarted: (name: string) => `${name} restarts, one instance after the other.`,
  frozen: 'Frozen',
  freeze: 'Freeze',
  isFrozen: (name: string) =>
    `${name} is frozen: no schedule acts, no rollout begins, changes of its file wait.`,
  unfreeze: 'Unfreeze',
  unfrozen: (name: string) => `${name} is frozen no more.`,
  duplicate: 'Duplicate',
  duplicateTitle: (name: string) => `Duplicate ${name}`,

  scale: 'Scale',
  scaleTitle: (name: string) => `How many of ${name}?`,
  scaleLabel: 'At least so many instances',
  scaleHint:
    'Drover starts missing instances at once. A lower number stops none, unless surplus is "remove".',
  endSurplus: (number: number) =>
    `End ${plural(number, 'instance')} above it now, those without players first`,
  scaleOver: (most: number) => `Its maximum is ${count(most)}: raise maximumServiceCount first.`,
  scaleWrong: 'A whole number from 0 to 100,000.',
  scaled: (name: string, number: number) => `${name}: at least ${plural(number, 'instance')} now.`,

  remove: 'Delete',
  removeTitle: (name: string) => `Delete configuration ${name}?`,
  removeExplanation: (instances: number) =>
    instances === 0
      ? 'Its file is deleted. It has no instances.'
      : `Its file is deleted, and no new instances are created. Its ${plural(instances, 'instance')} ${instances === 1 ? 'stays and goes' : 'stay and go'} on running until you delete ${instances === 1 ? 'it' : 'them'}, unless onDelete is "stop":`,
  removed: (name: string) => `Configuration ${name} is deleted.`,
  removedMore: (number: number) => `and ${count(number)} more`,

  rollout: 'Rollout',
  rolloutStates: {
    rolling: 'Under way',
    'awaiting-promotion': 'Waits for promotion',
    paused: 'Paused',
    failed: 'Failed',
    'rolling-back': 'Rolling back',
    'rolled-back': 'Rolled back',
    complete: 'Complete',
  },
  rolloutCells: 'Instances of the rollout',
  rolloutCell: { old: 'old', new: 'new', good: 'healthy' },
  rolloutGood: 'Healthy',
  rolloutProgress: ({ good, total, outdated, waiting }: ShownRollout['counts']) =>
    [
      `${count(good)} of ${plural(total, 'instance')}`,
      ...(outdated > 0 ? [`${count(outdated)} to be replaced`] : []),
      ...(waiting > 0
        ? [`${count(waiting)} of these ${waiting === 1 ? 'waits for its' : 'wait for their'} players`]
        : []),
    ].join(', '),
  rolloutLog: 'The whole log, while its node keeps it:',
  rollBack: 'Roll back…',
  rolloutHeldBack: 'New instances get the former content, until the file changes or you try again.',
  rolloutActions: { pause: 'Pause', resume: 'Resume', promote: 'Promote', retry: 'Try again' },
  rolloutAsked: {
    pause: 'The rollout is paused.',
    resume: 'The rollout goes on.',
    promote: 'All others follow the canaries.',
    retry: 'The content is tried once more.',
  },
  history: {
    number: '#',
    age: 'Age',
    who: 'Who',
    outcome: 'Outcome',
    outcomes: {
      'in-force': 'In force',
      rolling: 'Rolling',
      'rolled-out': 'Rolled out',
      failed: 'Failed',
      'rolled-back': 'Rolled back',
      replaced: 'Replaced',
    },
    instances: 'Instances',
    same: 'Both contents are the same.',
    rollBack: 'Roll back to this',
    title: (name: string, number: number) => `Roll ${name} back to content ${number}?`,
    plan: (number: number) =>
      `New instances get content ${number}. Running ones go back to it one after the other, if "update" replaces instances. The file stays as it is, and is held back until it changes or you try again. What changes:`,
    wasNotGood:
      'This content was not good when it was tried: its rollout failed, or somebody went back from it.',
    reason: 'Reason (optional)',
    done: (name: string, number: number) => `${name} goes back to content ${number}.`,
  },
  facts: 'Content',
  command: 'Command',
  count: 'Instances',
  atLeast: (minimum: number, maximum: number | undefined) =>
    maximum === undefined ? `at least ${count(minimum)}` : `${count(minimum)} to ${count(maximum)}`,
  resources: 'Each gets',
  ports: 'Ports',
  sharedPort: 'one shared on each node',
  none: 'none',
  templates: 'Templates',
  instances: 'Instances',
  noInstances: 'No instances',
  noInstancesHint: 'Drover creates them when the minimum is above 0. Scale it, or look at "Why this state".',
  older: (number: number) =>
    `${plural(number, 'instance')} ${number === 1 ? 'has' : 'have'} older content. To update: delete ${number === 1 ? 'it' : 'them'}, and Drover creates new ones.`,

  editorLabel: (name: string) => `Content of ${name}`,
  editorKeys: 'Ctrl-Space completes, Ctrl-S saves, Ctrl-F finds.',
  isNew: 'Not saved yet',
  good: 'No faults',
  faults: (number: number) => plural(number, 'fault'),
  faultsTitle: 'What keeps this from being saved',
  hintsTitle: 'What has no effect',
  place: (line: number, column: number) => `Line ${line}, column ${column}`,
  save: 'Review and save',
  notSaved: (number: number) => `Not saved: ${plural(number, 'fault')} to fix first.`,
  brokenInEditor: (file: string) =>
    `The file ${file} is broken. Below is its text as it stands: fix it and save, and it comes into force.`,
  fileDiffers: (file: string) =>
    `The file ${file} is not in force, or not yet. Below is the content in force; saving replaces the file.`,

  review: (name: string) => `Save ${name}?`,
  reviewNew: 'A new configuration.',
  reviewMended: 'This replaces the text of the broken file, and comes into force.',
  noRoom: (wanted: number, missing: number) =>
    wanted === missing
      ? `${plural(missing, 'new instance')} ${missing === 1 ? 'fits' : 'fit'} on no node:`
      : `${count(missing)} of ${plural(wanted, 'new instance')} ${missing === 1 ? 'fits' : 'fit'} on no node:`,
  differences: 'What differs',
  field: 'Field',
  before: 'In force',
  after: 'New',
  takesEffect: 'Takes effect',
  classes: { live: 'at once', 'next-start': 'from the next start', replacement: 'in new instances' },
  saveNow: 'Save',
  saved: (name: string) => `${name} is saved and in force.`,
};
