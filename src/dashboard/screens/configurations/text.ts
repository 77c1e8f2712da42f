/** The texts of the screen Configurations. */
import type { ShownRollout } from '../../../operations/rollouts/rollouts.js';
import { count, plural } from '../../parts/amounts.js';
import type { FileState } from './rows.js';

const states: Readonly<Record<FileState, string>> = {
  inForce: 'In force',
  kept: 'Broken, older in force',
  never: 'Broken',
  gone: 'Not there',
};

export const text = {
  title: 'Configurations',
  loading: 'Loading…',
  name: 'Name',
  state: 'State',
  states,
  online: 'Online',
  onlineOf: (online: number, minimum: number) => `${count(online)} of ${count(minimum)}`,
  ram: 'RAM each',
  runtime: 'Runs in',
  file: 'File',
  note: 'What next',
  search: 'Find a configuration',
  searchHint: 'Name, file or command',
  noneFound: 'No configuration fits',
  clearFilter: 'Show all',
  atLine: (line: number, message: string) => `line ${line}: ${message}`,
  missing: (number: number) => `${plural(number, 'instance')} missing: see why`,
  goneNote: (number: number) =>
    `${plural(number, 'instance')} left of it: delete ${number === 1 ? 'it' : 'them'}, or create it anew`,
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
  tabEdit: 'Edit',
  tabView: 'Content',
  unknown: (name: string) => `There is no configuration ${name}`,
  unknownHint: 'It was deleted, or the address is mistyped.',

  scale: 'Scale',
  scaleTitle: (name: string) => `How many of ${name}?`,
  scaleLabel: 'At least so many instances',
  scaleHint: 'Drover makes what is missing at once. Fewer ends none, unless surplus is "remove".',
  scaleOver: (most: number) => `Its maximum is ${count(most)}: raise maximumServiceCount first.`,
  scaleWrong: 'A whole number from 0 to 100,000.',
  scaled: (name: string, number: number) => `${name}: at least ${plural(number, 'instance')} now.`,

  remove: 'Delete',
  removeTitle: (name: string) => `Delete configuration ${name}?`,
  removeExplanation: (instances: number) =>
    instances === 0
      ? 'Its file is deleted. It has no instances.'
      : `Its file is deleted, and no new instances are made. Its ${plural(instances, 'instance')} ${instances === 1 ? 'stays and goes' : 'stay and go'} on running until you delete ${instances === 1 ? 'it' : 'them'}, unless onDelete is "stop":`,
  removed: (name: string) => `Configuration ${name} is deleted.`,
  removedMore: (number: number) => `and ${count(number)} more`,

  why: 'How it stands',
  rollout: 'Rollout',
  rolloutStates: {
    rolling: 'Under way',
    'awaiting-promotion': 'Waits for its promotion',
    paused: 'Paused',
    failed: 'Failed',
    'rolling-back': 'Going back',
    'rolled-back': 'Taken back',
    complete: 'Complete',
  },
  rolloutGood: 'Good',
  rolloutProgress: ({ good, total, outdated, waiting }: ShownRollout['counts']) =>
    [
      `${count(good)} of ${plural(total, 'instance')}`,
      ...(outdated > 0 ? [`${count(outdated)} to be replaced`] : []),
      ...(waiting > 0
        ? [`${count(waiting)} of these ${waiting === 1 ? 'waits for its' : 'wait for their'} players`]
        : []),
    ].join(', '),
  rolloutHeldBack: 'New instances are made from the content before, until the file changes or you try again.',
  rolloutActions: { pause: 'Pause', resume: 'Resume', promote: 'Promote', retry: 'Try again' },
  rolloutAsked: {
    pause: 'The rollout is paused.',
    resume: 'The rollout goes on.',
    promote: 'All others follow the canaries.',
    retry: 'The content is tried once more.',
  },
  advice: 'What you can do',
  next: 'What happens next',
  fileFault: (file: string) => `The file ${file} is not in force as it stands`,
  fileFaultKept: 'What it said before is in force. Save a mended text, or mend the file on the master.',
  fileFaultNever: 'Save a good text here, or mend the file on the master.',
  warnings: 'Without effect',
  facts: 'Content',
  command: 'Command',
  count: 'Instances',
  atLeast: (minimum: number, maximum: number | undefined) =>
    maximum === undefined ? `at least ${count(minimum)}` : `${count(minimum)} to ${count(maximum)}`,
  resources: 'Each gets',
  ports: 'Ports',
  none: 'none',
  templates: 'Templates',
  instances: 'Instances',
  noInstances: 'No instances',
  noInstancesHint: 'Drover makes them when its minimum is above 0. Scale it, or look at "How it stands".',
  instance: 'Instance',
  node: 'Node',
  address: 'Address',
  made: 'Made',
  content: 'Made from',
  contentNow: 'this content',
  contentOld: 'older content',
  contentOutdated: 'to be replaced',
  notPlaced: 'not placed yet',
  older: (number: number) =>
    `${plural(number, 'instance')} ${number === 1 ? 'was' : 'were'} made from older content. To bring the new one: delete ${number === 1 ? 'it' : 'them'}, and Drover makes new ones.`,

  editorLabel: (name: string) => `Content of ${name}`,
  editorKeys: 'Ctrl-Space completes, Ctrl-S saves, Ctrl-F finds.',
  isNew: 'Not saved yet',
  unsaved: 'Not saved',
  good: 'No faults',
  faults: (number: number) => plural(number, 'fault'),
  faultsTitle: 'What keeps this from being saved',
  hintsTitle: 'What has no effect',
  place: (line: number, column: number) => `Line ${line}, column ${column}`,
  save: 'Review and save',
  notSaved: (number: number) => `Not saved: ${plural(number, 'fault')} to mend first.`,
  brokenInEditor: (file: string) =>
    `The file ${file} is broken. Below is what is in force; saving replaces the file.`,
  fileDiffers: (file: string) =>
    `The file ${file} is not in force, or not yet. Below is what is in force; saving replaces the file.`,

  review: (name: string) => `Save ${name}?`,
  reviewNew: 'A new configuration.',
  noRoom: (wanted: number, missing: number) =>
    wanted === missing
      ? `${plural(missing, 'new instance')} ${missing === 1 ? 'fits' : 'fit'} nowhere:`
      : `${count(missing)} of ${plural(wanted, 'new instance')} ${missing === 1 ? 'fits' : 'fit'} nowhere:`,
  field: 'Field',
  before: 'In force',
  after: 'New',
  holds: 'Holds',
  classes: { live: 'at once', 'next-start': 'from the next start', replacement: 'in new instances' },
  notSet: '–',
  saveNow: 'Save',
  saved: (name: string) => `${name} is saved and in force.`,
};
