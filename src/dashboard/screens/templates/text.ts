/** The texts of the screen Templates. */
import { bytes, count, plural } from '../../parts/amounts.js';

/** Small sizes are in bytes. */
function sizeText(size: number): string {
  return size < 1024 ? plural(Math.round(size), 'byte') : bytes(size);
}

export const text = {
  title: 'Templates',
  group: 'Group',
  name: 'Name',
  storage: 'Storage',
  users: 'Used by',
  unused: 'nothing',
  search: 'Find a template',
  searchHint: 'Group or name',
  counted: (shown: number, all: number) =>
    shown === all ? count(all) : `${count(shown)} of ${plural(all, 'template')}`,
  noneFound: 'No template fits',
  clearFilter: 'Show all',
  empty: 'No templates yet',
  emptyHint: 'A template is a folder of files that are copied into each instance that uses it.',

  create: 'New template',
  createHint: 'A template is there with its first file. You can upload more, or a zip, afterwards.',
  createFile: 'First file',
  createFileHint: 'Its path in the template, such as server.properties or config/game.yml.',
  nameHint: 'Letters, digits, ".", "_" and "-"; at most 64.',
  nameWrong: 'Begin with a letter or digit, then letters, digits, ".", "_" and "-"; at most 64.',
  pathWrong: 'A path with "/" between its parts, without "..", "\\" or an empty part.',
  created: (path: string) => `${path} is there.`,

  toList: 'All templates',
  unknown: (name: string) => `There is no template ${name}`,
  unknownHint: 'It was deleted, or the address is mistyped.',
  elsewhere: (storage: string) => `This template lies in the storage ${storage}`,
  elsewhereHint: 'Its files are changed there. Drover fetches the newest version when an instance needs it.',
  tabs: 'Parts of this template',
  tabFiles: 'Files',
  tabUse: 'Use and nodes',

  upload: 'Upload',
  uploadFiles: 'Files, or a zip…',
  uploadFolder: 'A folder…',
  download: 'Download as zip',
  downloading: 'Packing…',
  newFile: 'New file',
  newFilePath: 'Path',
  newFileHint: 'Missing folders are created: config/game.yml creates config.',
  dropHint: 'Drop files, folders or zips here',

  files: 'Files of this template',
  findFile: 'Find a file',
  moreFiles: (number: number) => `and ${plural(number, 'more', 'more')}: find them by name`,
  noFiles: 'No files yet',
  noFilesHint: 'Drop files, folders or a zip here, or press Upload.',
  noFileFound: 'No file fits',
  inFolder: (number: number) => plural(number, 'file'),
  choose: 'Choose a file to see it',
  chooseHint: 'Texts up to 1 MB are edited here; others can be downloaded and replaced.',

  fileGone: (path: string) => `There is no file ${path}`,
  tooLarge: (size: number) => `${sizeText(size)} is too much to edit here`,
  tooLargeHint: 'Download it, change it on your computer, and upload it again under the same path.',
  binary: 'This is no text',
  binaryHint: (size: number) =>
    `${sizeText(size)} of data that only programs read. Download it, or upload another one.`,
  size: sizeText,
  editorLabel: (path: string) => `Content of ${path}`,
  editorKeys: 'Ctrl-S saves, Ctrl-F finds.',
  save: 'Save',
  saved: (path: string) => `${path} is saved. Instances get it with their next start.`,
  downloadFile: 'Download',
  remove: 'Delete',
  removeTitle: (number: number) => (number === 1 ? 'Delete this file?' : `Delete ${plural(number, 'file')}?`),
  removeExplanation:
    'Gone from the template at once. Instances that run keep their copy; those that start from now on do not get it.',
  removed: (number: number) => `${plural(number, 'file')} deleted.`,
  removeFolder: (path: string) => `Delete folder ${path}`,
  removedSome: (number: number, all: number, why: string) =>
    `${count(number)} of ${plural(all, 'file')} deleted, then: ${why}`,

  uploadTitle: (number: number) => `Upload ${plural(number, 'file')}?`,
  into: 'Into the folder',
  intoHint: 'Empty: the top of the template.',
  unpack: 'Unpack zips, at the top of the template. Files of the same path are replaced.',
  replaces: 'replaces',
  unpacks: 'unpacked',
  replacing: (number: number) => `${plural(number, 'file')} of the template will be replaced.`,
  uploadGo: 'Upload',
  uploading: (done: number, all: number) => `${count(done)} of ${plural(all, 'file')}`,
  uploadProgress: 'Sent',
  progressOf: (sent: number, all: number) => `${sizeText(sent)} of ${sizeText(all)}`,
  cancel: 'Cancel',
  uploadDone: (number: number) => `${plural(number, 'file')} uploaded.`,
  uploadFailed: 'These were not uploaded',

  usedBy: 'Used by',
  usedByNone: 'No configuration uses it',
  usedByNoneHint: 'Name it in templateInstallationConfig of a configuration.',
  nodes: 'On the nodes',
  nodesHint:
    'Nodes fetch what their instances need by themselves. You can make all of them fetch this one now.',
  send: 'Send to all nodes now',
  sent: (nodes: number) => `${plural(nodes, 'node')} asked to fetch it.`,
  noSync: 'Nothing was sent ahead of need since the master started.',
  lastSync: (pattern: string) => `Last sent ahead: ${pattern}`,
  gotOf: (files: number, size: number) => `${plural(files, 'file')}, ${bytes(size)}`,
  syncStates: { waiting: 'Waiting', fetching: 'Fetching', done: 'There', failed: 'Failed' },
  leftOut: 'Could not be sent',
};
