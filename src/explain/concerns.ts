/**
 * The list of what is not well in the cluster, the worst first: the same for the overview of the page and for
 * `cluster status`. Pure. The page loads this file too, so it imports only what runs in a browser.
 */
import type { ConfigurationFileError } from '../model/configuration.js';
import type { NodeCondition } from '../model/node.js';
import type { DrainProgress } from '../model/node-drain.js';
import type { ShownWebhook } from '../model/webhook.js';
import type { Health } from './health.js';
import { HEALTH_STATES, HEALTH_TONES, type HealthState, type HealthTone } from './health-states.js';

const NODE_KINDS = ['node-lost', 'node-returning', 'node-draining', 'node-cordoned'] as const;
const OTHER_KINDS = ['file', 'undelivered', 'record', 'certificate'] as const;
export const CONCERN_KINDS = [...NODE_KINDS, ...OTHER_KINDS] as const;
/** The order of concerns that are equally urgent: a lost node is often the cause of the rest. */
const KINDS: readonly Concern['kind'][] = [...NODE_KINDS, ...HEALTH_STATES, ...OTHER_KINDS];

/** A configuration with its health, as the topic `health` has it. */
export interface ConfigurationHealth {
  readonly name: string;
  readonly online: number;
  readonly minimum: number;
  readonly instances: number;
  readonly health: Health;
  /** How it is frozen, as a text; absent: it is not. */
  readonly frozen?: string;
}

export interface Concern {
  /** The state of a configuration's health, or a kind of its own. */
  readonly kind: HealthState | (typeof CONCERN_KINDS)[number];
  readonly tone: HealthTone;
  /** The configuration, node, file, webhook or record; `TLS of the API`. */
  readonly name: string;
  /** The kind in one or two words. */
  readonly word: string;
  readonly text: string;
  /** Since when, Unix milliseconds; null: not known. */
  readonly since: number | null;
  /** The instance that is meant, or null. */
  readonly instance: string | null;
}

interface NodeFacts {
  readonly nodeId: string;
  readonly condition: NodeCondition;
  readonly cordoned: boolean;
  readonly drain: DrainProgress | null;
}

export interface ConcernFacts {
  readonly configurations: Iterable<ConfigurationHealth>;
  readonly nodes: Iterable<NodeFacts>;
  readonly brokenFiles: readonly ConfigurationFileError[];
  /** The webhooks whose receivers take nothing. */
  readonly undelivered: readonly ShownWebhook[];
  readonly unreadableRecords: readonly { readonly key: string; readonly problem: string }[];
  /** The problem of the API's certificate; null: none. */
  readonly certificateProblem: string | null;
}

const ORDER: readonly HealthTone[] = ['bad', 'busy', 'still'];
/** States of health that need nobody. `rolling` needs somebody only below the minimum. */
const FINE: ReadonlySet<HealthState> = new Set(['healthy', 'finished', 'rolled-back', 'rolling']);

export function concernsOf(facts: ConcernFacts): Concern[] {
  const all: Concern[] = [];
  const add = (name: string, told: Told, more: Partial<Concern> = {}): void =>
    void all.push({ name, ...told, since: null, instance: null, ...more });
  for (const node of facts.nodes) {
    const told = toldOfNode(node);
    if (told !== undefined) add(node.nodeId, told);
  }
  for (const { name, online, minimum, health } of facts.configurations) {
    const { state, text, detail, since, instance } = health;
    if (FINE.has(state) && (state !== 'rolling' || online >= minimum)) continue;
    const told = { kind: state, tone: HEALTH_TONES[state], word: text, text: detail ?? text };
    add(name, told, { since, instance });
  }
  for (const { file, line, message } of facts.brokenFiles) {
    // A fault of one configuration file is in the health of its configuration.
    if (isOfConfiguration(file)) continue;
    const text = line === null ? message : `line ${line}: ${message}`;
    add(file, { kind: 'file', tone: 'bad', word: 'Broken file', text });
  }
  for (const { name, problem, failingSince: since, waiting, lost } of facts.undelivered) {
    const text = `${problem}; events: ${waiting} waiting, ${lost} given up`;
    add(`webhook ${name}`, { kind: 'undelivered', tone: 'bad', word: 'Undelivered', text }, { since });
  }
  for (const { key, problem } of facts.unreadableRecords) {
    const text = `it cannot be read and is set aside: ${problem}`;
    add(key, { kind: 'record', tone: 'bad', word: 'Broken record', text });
  }
  const problem = facts.certificateProblem;
  if (problem !== null)
    add('TLS of the API', { kind: 'certificate', tone: 'bad', word: 'Certificate', text: problem });
  return all.sort(
    (a, b) =>
      ORDER.indexOf(a.tone) - ORDER.indexOf(b.tone) ||
      KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
      (a.name < b.name ? -1 : 1),
  );
}

/** True for a fault of a single configuration file, not of a directory, the store or a template. */
export function isOfConfiguration(file: string): boolean {
  return file.endsWith('.json') && !file.endsWith('*.json') && !/^(templates|webhooks)\//.test(file);
}

type Told = Pick<Concern, 'kind' | 'tone' | 'word' | 'text'>;

function toldOfNode({ condition, drain, cordoned }: NodeFacts): Told | undefined {
  const told = (kind: Concern['kind'], tone: HealthTone, word: string, text: string): Told => ({
    kind,
    tone,
    word,
    text,
  });
  if (condition === 'lost') return told('node-lost', 'bad', 'Node lost', 'its beats are missing');
  if (condition === 'returning')
    return told('node-returning', 'busy', 'Returning', 'it has left and said that it will be back');
  if (drain !== null && !drain.isDrained)
    return told('node-draining', 'busy', 'Draining', `it is being drained: ${drain.left} left`);
  return cordoned ? told('node-cordoned', 'still', 'Cordoned', 'it gets no new instances') : undefined;
}
