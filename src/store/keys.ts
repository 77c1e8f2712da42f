/** The key space of the master's store, in one place. The schemas of the values are in `src/model`. */

export const PREFIX = {
  configurations: 'configurations/',
  revisions: 'revisions/',
  histories: 'history/',
  overrides: 'overrides/',
  events: 'events/',
  exits: 'exits/',
  notices: 'notices/',
  instances: 'instances/',
  rollouts: 'rollouts/',
  timetables: 'schedules/',
  keys: 'keys/',
  sessions: 'sessions/',
  nodes: 'nodes/',
  joinTokens: 'join-tokens/',
  members: 'members/',
  secrets: 'secrets/',
  programSecrets: 'program-secrets/',
  templates: 'templates/',
  clones: 'clones/',
} as const;

export const configurationKey = (name: string): string => PREFIX.configurations + name;
export const revisionKey = (hash: string): string => PREFIX.revisions + hash;
export const historyKey = (name: string): string => PREFIX.histories + name;
export const overridesKey = (name: string): string => PREFIX.overrides + name;
export const eventKey = (id: string): string => PREFIX.events + id;
export const exitKey = (id: string): string => PREFIX.exits + id;
export const noticeKey = (webhook: string): string => PREFIX.notices + webhook;
export const instanceKey = (id: string): string => PREFIX.instances + id;
export const rolloutKey = (configurationName: string): string => PREFIX.rollouts + configurationName;
export const timetableKey = (configurationName: string): string => PREFIX.timetables + configurationName;
export const apiKeyKey = (label: string): string => PREFIX.keys + label;
export const sessionKey = (id: string): string => PREFIX.sessions + id;
export const nodeKey = (nodeId: string): string => PREFIX.nodes + nodeId;
export const joinTokenKey = (id: string): string => PREFIX.joinTokens + id;
export const memberKey = (nodeId: string): string => PREFIX.members + nodeId;
export const secretKey = (name: string): string => PREFIX.secrets + name;
export const programSecretKey = (name: string): string => PREFIX.programSecrets + name;
export const cloneKey = (kind: string): string => PREFIX.clones + kind;
export const templateKey = (name: string): string => PREFIX.templates + name;
