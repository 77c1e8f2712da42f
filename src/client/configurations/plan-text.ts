/** Describes a plan for people: as lines for a terminal, or as Markdown for a comment that is updated in place. */
import { paint } from '../../command-tree/tones.js';
import { shownPair, visibleText } from '../../model/plain/shown-pair.js';
import { countText } from '../../model/words.js';
import type { ChangePlan, PlannedConfiguration } from '../../operations/plan/change-plan.js';
import { isHeldBack, othersText } from './ask-plan.js';

/** Marks the comment to update. GitHub and GitLab do not show the marker. */
const MARKER = '<!-- drover-plan -->';
/** GitHub allows 65,536 characters in a comment; the remainder is for text that a workflow adds. */
const MOST_CHARS = 60_000;
/** Shows as nothing. GitHub and GitLab make no link, reference, mention or emoji of a text that holds it. */
const WORD_JOINER = '\u2060';
/** The starts of links, references to issues and people, emoji and entities; and parts of hashes of commits. */
const LINK_STARTS =
  /[@#!$%~^&:](?=\S)|\bwww(?=\.)|\b(?:[A-Z][A-Z\d_]+|gh)-(?=\d)|[\da-fA-F]{6}(?=[\da-fA-F])/g;

const SIGN: Readonly<Record<PlannedConfiguration['action'], string>> = {
  create: '+',
  change: '~',
  delete: '-',
  unchanged: '=',
};

export function planText(plan: ChangePlan): string {
  const lines = shownIn(plan).flatMap((one) => [
    `${SIGN[one.action]} ${one.name}: ${actionText(one)}`,
    ...one.fields.map((field) => `    ${visibleText(field.path)}${fieldText(one.action, field)}`),
    `    ${one.why}`,
  ]);
  const troubles = [
    ...plan.shortages.map(shortageText),
    ...othersText(plan),
    ...plan.warnings.map(warningText),
  ];
  return [...lines, ...troubles, `${summary(plan)}; fingerprint ${plan.fingerprint}`].join('\n');
}

const TONES = { '+': 'good', '~': 'warn', '-': 'bad' } as const;

/** The plan with the line of each configuration in the colour of what becomes of it. */
export function paintedPlan(plan: ChangePlan): string {
  return planText(plan).replace(/^([+~-]) .*$/gm, (line, sign: keyof typeof TONES) =>
    paint(TONES[sign], line),
  );
}

/** Returns Markdown that begins with the marker and is shorter than the limit for a comment. */
export function planMarkdown(plan: ChangePlan): string {
  const shown = shownIn(plan);
  const head = [MARKER, '### Drover plan', '', `${summary(plan).replace(/^n/, 'N')}.`];
  const foot = ['', `Fingerprint \`${plan.fingerprint}\``];
  const sections = [
    ...[...othersText(plan), ...plan.shortages.map(shortageText)].map(
      (text) => `- **${markdownText(text)}**`,
    ),
    ...shown.map(sectionOf),
    ...plan.warnings.map((warning) => `- ${markdownText(warningText(warning))}`),
  ];
  return [...head, ...cutToRoom(sections), ...foot].join('\n');
}

function cutToRoom(sections: readonly string[]): string[] {
  const shown: string[] = [];
  let room = MOST_CHARS;
  for (const section of sections) {
    room -= section.length + 2;
    if (room < 0) break;
    shown.push('', section);
  }
  const left = sections.length - shown.length / 2;
  return left === 0 ? shown : [...shown, '', `…and ${left} more: \`drover plan\` shows all.`];
}

function sectionOf(planned: PlannedConfiguration): string {
  const { name, action, fields, effects, why } = planned;
  const counts = Object.entries(effects).filter(([, count]) => count > 0);
  const isNew = action === 'create';
  const rows = fields.map((field) => {
    const [from, to] = shownPair(field.from, field.to).map(cell);
    return isNew
      ? `| ${code(field.path)} | ${to} |`
      : `| ${code(field.path)} | ${field.class} | ${from} | ${to} |`;
  });
  const head = isNew
    ? ['| field | value |', '| --- | --- |']
    : ['| field | class | from | to |', '| --- | --- | --- | --- |'];
  const lines = [
    `#### ${SIGN[action]} ${code(name)}: ${actionText(planned)}`,
    '',
    markdownText(why),
    ...(counts.length === 0 ? [] : ['', counts.map(([what, count]) => `${what} **${count}**`).join(', ')]),
    ...(rows.length === 0 ? [] : ['', ...head, ...rows]),
  ];
  const text = lines.join('\n');
  return text.length <= MOST_CHARS / 2
    ? text
    : [...lines.slice(0, 3), '', `${countText(fields.length, 'field')} differ: too many to show here.`].join(
        '\n',
      );
}

function shortageText({
  configurationName,
  wanted,
  missing,
  message,
}: ChangePlan['shortages'][number]): string {
  const which = wanted === 1 ? 'the new one' : `${missing} of the ${wanted} new ones`;
  return `${which} of ${configurationName} ${missing === 1 ? 'fits' : 'fit'} nowhere: ${message}`;
}

function warningText({ configurationName, field, message }: ChangePlan['warnings'][number]): string {
  return ['warning', configurationName, field, message].filter((part) => part !== null).join(': ');
}

/** Returns `1 to create, 2 to change; 1 held back`. */
function summary(plan: ChangePlan): string {
  const parts = (['create', 'change', 'delete'] as const).flatMap((action) => {
    const count = plan.configurations.filter((one) => one.action === action).length;
    return count === 0 ? [] : [`${count} to ${action}`];
  });
  const held = plan.configurations.filter(isHeldBack).length;
  return [
    parts.length === 0 ? 'nothing changes' : parts.join(', '),
    ...(held === 0 ? [] : [`${held} held back`]),
  ].join('; ');
}

function fieldText(
  action: PlannedConfiguration['action'],
  field: PlannedConfiguration['fields'][number],
): string {
  const [from, to] = shownPair(field.from, field.to).map((value) => value ?? 'not set');
  return action === 'create' ? `: ${to}` : ` (${field.class}): ${from} -> ${to}`;
}

function actionText(planned: PlannedConfiguration): string {
  return isHeldBack(planned) ? `${planned.action}, held back` : planned.action;
}

function cell(value: string | null): string {
  return value === null ? '' : code(value);
}

/**
 * Returns text as a Markdown code span. The fence is longer than any run of backticks in the text; `|` is escaped,
 * since it would end the table cell. Pages show several spaces as one, so all but the first do not break.
 */
function code(text: string): string {
  const plain = unlinked(text)
    .replaceAll(/(?<= ) /g, '\u00a0')
    .replaceAll('|', '\\|');
  const fences = (plain.match(/`+/g) ?? []).map(({ length }) => length);
  const fence = '`'.repeat(Math.max(0, ...fences) + 1);
  return fences.length === 0 ? `${fence}${plain}${fence}` : `${fence} ${plain} ${fence}`;
}

/** Escapes Markdown in text from a configuration. */
function markdownText(text: string): string {
  return unlinked(text).replaceAll(/[\\`*_{}[\]<>#|~$&]/g, (character) => `\\${character}`);
}

/** The text on one line, without links and marks of direction. A page links also what is escaped. */
function unlinked(text: string): string {
  return visibleText(text.replaceAll(/[\n\r]+/g, ' ')).replaceAll(LINK_STARTS, `$&${WORD_JOINER}`);
}

/** Returns the configurations that the plan would change. */
export function changedIn({ configurations }: ChangePlan): ChangePlan['configurations'] {
  return configurations.filter(({ action }) => action !== 'unchanged');
}

/** Returns the configurations that a reader must know of. */
function shownIn({ configurations }: ChangePlan): ChangePlan['configurations'] {
  return configurations.filter((one) => one.action !== 'unchanged' || isHeldBack(one));
}
