/**
 * Judges each draft against the daemon's own schemas and against what the root has: new, same, kept or refused. The
 * import writes only after all are judged.
 */
import { join } from 'node:path';
import { fileReason } from '../../src/configuration-files/file-reason.js';
import { configurationFileText } from '../../src/configuration-files/file-text.js';
import { parseConfigurationFile } from '../../src/configuration-files/parse.js';
import { canonicalJson } from '../../src/model/configuration.js';
import { DroverError, messageOf } from '../../src/model/errors.js';
import { parseMainConfiguration } from '../../src/node/main-configuration.js';
import { readSteadily, walkTree } from '../../src/templates/tree/tree.js';
import type { ConfigurationDraft, Draft, NodeDraft, TemplateDraft } from './draft.js';
import type { ItemReport, ItemState } from './report.js';
import { digestOfTree, type Target } from './target.js';

/** How to write an item that is `new`. */
export type Writing =
  | { readonly kind: 'file'; readonly path: string; readonly text: string }
  | { readonly kind: 'template'; readonly group: string; readonly name: string; readonly directory: string };

export interface Judged {
  readonly report: ItemReport;
  /** How to write the item; undefined: it is not written. */
  readonly writing: Writing | undefined;
}

/** The decision about one item. */
interface Verdict {
  readonly state: ItemState;
  readonly reason?: string;
  readonly warnings?: readonly string[];
  readonly writing?: Writing;
}

/**
 * Returns the judgements in the order of the drafts. A draft is refused when an accepted draft before it has the
 * same name.
 */
export async function judgeDrafts(drafts: readonly Draft[], target: Target): Promise<Judged[]> {
  const judged: Judged[] = [];
  const taken = new Map<string, string>();
  for (const draft of drafts) {
    const to = placeOf(draft);
    const first = taken.get(to);
    const verdict: Verdict =
      first === undefined || to === ''
        ? await verdictOn(draft, to, target)
        : { state: 'refused', reason: `${first} has the same name: rename one of them` };
    if (verdict.state !== 'refused') taken.set(to, draft.from);
    judged.push({ report: reportOf(draft, to, verdict), writing: verdict.writing });
  }
  return judged;
}

function placeOf(draft: Draft): string {
  switch (draft.kind) {
    case 'node':
      return 'config.json';
    case 'configuration':
      return `configurations/${draft.name}.json`;
    case 'template':
      return `templates/${draft.group}/${draft.name}`;
    case 'refused':
      return draft.to;
  }
}

function reportOf(draft: Draft, to: string, { state, reason = '', warnings = [] }: Verdict): ItemReport {
  const kind = draft.kind === 'refused' ? draft.what : draft.kind;
  const fields = draft.kind === 'refused' ? [] : draft.fields;
  return { kind, from: draft.from, to, state, reason, fields, warnings };
}

async function verdictOn(draft: Draft, to: string, target: Target): Promise<Verdict> {
  try {
    switch (draft.kind) {
      case 'node':
        return judgeNode(draft, target);
      case 'configuration':
        return judgeConfiguration(draft, to, target);
      case 'template':
        return await judgeTemplate(draft, to, target);
      case 'refused':
        return { state: 'refused', reason: draft.reason };
    }
  } catch (error) {
    if (!(error instanceof DroverError)) throw error;
    return { state: 'refused', reason: error.message };
  }
}

function judgeNode({ from, content }: NodeDraft, { root, node }: Target): Verdict {
  const text = `${JSON.stringify(content, null, 2)}\n`;
  const wanted = parseMainConfiguration(from, text);
  if (typeof node === 'string') return { state: 'kept', reason: node };
  if (node === undefined)
    return { state: 'new', writing: { kind: 'file', path: join(root, 'config.json'), text } };
  const fields = Object.keys(content).filter((field) => differs(field, wanted, node));
  if (fields.length === 0) return { state: 'same' };
  const waiting = fields.includes('nodeId')
    ? `; configurations that name the node ${wanted.nodeId} wait for it`
    : '';
  return {
    state: 'kept',
    reason: `the root has a config.json with other values of ${fields.join(', ')}: change them there by hand, while Drover is stopped${waiting}`,
  };
}

function judgeConfiguration(draft: ConfigurationDraft, to: string, target: Target): Verdict {
  const file = `${draft.name}.json`;
  const text = configurationFileText(draft.name, draft.content);
  const result = parseConfigurationFile(file, text);
  if ('error' in result) return { state: 'refused', reason: result.error.message };
  const { configuration, hash, warnings } = result.parsed;
  const said = warnings.map(({ field, message }) => `${field}: ${message}`);
  for (const [name, reading] of target.configurations) {
    if (reading.kind === 'broken') {
      if (name === file) return { state: 'kept', reason: `the root has a broken ${to}: mend or remove it` };
      continue;
    }
    const present = reading.parsed;
    if (present.configuration.name !== configuration.name) {
      if (name !== file) continue;
      return {
        state: 'kept',
        reason: `${to} of the root holds "${present.configuration.name}": rename that file`,
      };
    }
    if (present.hash === hash) return { state: 'same', warnings: said };
    const fields = [...new Set(Object.keys({ ...configuration, ...present.configuration }))].filter((field) =>
      differs(field, configuration, present.configuration),
    );
    return {
      state: 'kept',
      warnings: said,
      reason: `configurations/${name} of the root differs in ${fields.join(', ')}: change it there, or move it away and import again`,
    };
  }
  return { state: 'new', warnings: said, writing: { kind: 'file', path: join(target.root, to), text } };
}

async function judgeTemplate(draft: TemplateDraft, to: string, target: Target): Promise<Verdict> {
  const { group, name, directory, from } = draft;
  const place = { root: directory, label: from };
  try {
    const present = await target.digestOf(group, name).catch((error: unknown) => messageOf(error));
    if (present === undefined) {
      await readSteadily(() => walkTree(place, new AbortController().signal));
      return { state: 'new', writing: { kind: 'template', group, name, directory } };
    }
    if (present === (await digestOfTree(place))) return { state: 'same' };
    return {
      state: 'kept',
      reason: `the root has other files in ${to}: compare them (diff -r), or move the directory away and import again`,
    };
  } catch (error) {
    return { state: 'refused', reason: fileReason(error) };
  }
}

function differs(field: string, a: object, b: object): boolean {
  return canonicalJson({ value: Reflect.get(a, field) }) !== canonicalJson({ value: Reflect.get(b, field) });
}
