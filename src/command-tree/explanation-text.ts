/**
 * Explanations as text for `instance why`, `config why` and `cluster why`: the verdict, what happens next, what to do, then the
 * numbers. No colours; lines are wrapped at 100 columns, or at those of the reader's terminal.
 */

import type {
  ConfigurationExplanation,
  InstanceExplanation,
  NodeExplanation,
  NodeVerdict,
  PastExit,
  PortHolder,
} from '../explain/explanation.js';
import { durationText } from '../model/plain/duration-text.js';
import { wrapText } from '../model/plain/wrap-text.js';
import { countText, cutText, endText, instantText } from '../model/words.js';
import { toPlainText } from '../telemetry/plain-text.js';
import { renderTable } from './table.js';

const WIDTH = 100;
const LABEL = 13;
/** How many lines of the newest past run are shown, and of each older one. The data has more. */
const LINES_OF_NEWEST = 10;
const LINES_OF_OLDER = 2;
/** How many port holders are shown: a range may have thousands. */
const PORTS_SHOWN = 20;

/** The explanation as several lines, without a newline at the end. */
export function renderInstanceExplanation(explanation: InstanceExplanation, columns?: number): string {
  const { actual, reason, port, ports, restarts, failuresInARow, retryInMs } = explanation;
  const failures = failuresInARow === 0 ? '' : `, ${countText(failuresInARow, 'failure')} in a row`;
  const parts = [
    head(explanation),
    [
      ...field('desired', explanation.desired),
      ...field('actual', actual + (reason === null ? '' : ` (${reason})`)),
      ...field('node', nodeText(explanation)),
      ...field('port', port === null ? null : String(port)),
      ...field('ports', ports ?? null),
      ...field('process', processText(explanation)),
      ...field('restarts', `${restarts}${failures}`),
      ...field('next try', retryInMs === null ? null : `in ${durationText(retryInMs)}`),
    ],
    nodeLines('Nodes', explanation.nodes, explanation.nodesTotal),
    portLines(explanation),
    exitLines(explanation.exits),
  ];
  return blocks(parts, columns);
}

/** Tells of the process; a run without a pid is in a container. */
function processText({ processPid, upForMs }: InstanceExplanation): string | null {
  const up = upForMs === null ? '' : `, up for ${durationText(upForMs)}`;
  if (processPid !== null) return `pid ${processPid}${up}`;
  return upForMs === null ? null : `container${up}`;
}

/** The explanation as several lines, without a newline at the end. */
export function renderConfigurationExplanation(
  explanation: ConfigurationExplanation,
  columns?: number,
): string {
  const { minimum, maximum, actual, online, nextCreationInMs, instances, instancesTotal } = explanation;
  const most = maximum === null ? '' : `, at most ${maximum}`;
  const parts = [
    head(explanation),
    [
      ...field('asked for', minimum === null ? null : `${minimum}${most}`),
      ...field('there', minimum === null ? null : `${actual} that count, ${online} ONLINE`),
      ...field('creating', nextCreationInMs === null ? null : `in ${durationText(nextCreationInMs)}`),
      ...explanation.files.flatMap((file) => [
        ...field('file', `${file.name}, ${fileText(file)}`),
        ...field('git', file.git),
      ]),
    ],
    table(
      'Instances',
      instances.map(({ instanceId, state, verdict }) => [instanceId, state, verdict]),
      instancesTotal,
    ),
    nodeLines('One more instance', explanation.nodes, explanation.nodesTotal),
    portLines(explanation),
  ];
  return blocks(parts, columns);
}

function fileText({
  error,
  line,
  field: name,
  isInForce,
}: ConfigurationExplanation['files'][number]): string {
  if (error !== null) return `broken${place(line, name)}`;
  return isInForce ? 'in force' : 'held back';
}

/** The explanation as several lines, without a newline at the end. */
export function renderNodeExplanation(explanation: NodeExplanation, columns?: number): string {
  const { condition, conditionForMs, silentMs, cordoned, instances, instancesTotal } = explanation;
  const { usedRamMB, maxRamMB, usedCpu, maxCpu } = explanation;
  const parts = [
    head(explanation),
    [
      ...field('condition', `${condition} for ${durationText(conditionForMs)}`),
      ...field('last beat', silentMs === null ? null : `${durationText(silentMs)} ago`),
      ...field('cordoned', cordoned ? 'yes' : null),
      ...field('RAM', `${usedRamMB} of ${maxRamMB} MB given out`),
      ...field('CPU', `${usedCpu} of ${maxCpu} given out (100 = one core)`),
    ],
    table(
      'Instances',
      instances.map((row) => [row.instanceId, row.configurationName, row.state, row.verdict]),
      instancesTotal,
    ),
  ];
  return blocks(parts, columns);
}

type Told = Pick<InstanceExplanation, 'verdict' | 'next' | 'advice' | 'notes'>;

function head({ verdict, next, advice, notes }: Told): string[] {
  return [
    plainLine(verdict),
    ...field('next', next),
    ...field('to do', advice),
    ...notes.flatMap((note) => field('note', note)),
  ];
}

function nodeText({ node, nodeCondition, nodeAnswer }: InstanceExplanation): string {
  if (node === null) return 'none yet';
  const condition = nodeCondition === null ? 'not known' : nodeCondition;
  return `${node}, ${condition}${nodeAnswer === null || nodeCondition !== 'connected' ? '' : ', did not answer'}`;
}

function place(line: number | null, name: string | null): string {
  const where = line === null ? '' : ` at line ${line}`;
  return name === null ? where : `${where} (${name})`;
}

function nodeLines(title: string, nodes: readonly NodeVerdict[], total: number): string[] {
  const fitting = nodes.filter(({ fits }) => fits).length;
  const heading = `${title} (${fitting} of ${countText(total, 'node')} ${fitting === 1 ? 'fits' : 'fit'})`;
  return table(
    heading,
    nodes.map(({ nodeId, message }) => [nodeId, message]),
    total,
  );
}

function portLines({
  portRange,
  portHolders,
  portHoldersTotal,
}: Pick<InstanceExplanation, 'portRange' | 'portHolders' | 'portHoldersTotal'>): string[] {
  if (portRange === null) return [];
  const shown = portHolders.slice(0, PORTS_SHOWN);
  const rows = shown.map((holder) => [holder.nodeId, String(holder.port), holderText(holder)]);
  return table(
    `Ports ${portRange.name === undefined ? '' : `${portRange.name} `}${portRange.min}-${portRange.max}`,
    rows,
    portHoldersTotal,
  );
}

function holderText(holder: PortHolder): string {
  const { instanceId, configurationName, instanceNodeId, nodeId, protocol, foundAgoMs } = holder;
  if (instanceId === null) {
    const kind = protocol === null ? '' : ` (${protocol})`;
    const found = foundAgoMs === null ? '' : `, found ${durationText(foundAgoMs)} ago`;
    return `another program${kind}${found}`;
  }
  const elsewhere =
    instanceNodeId === null || instanceNodeId === nodeId ? '' : ` on ${instanceNodeId}, same host address`;
  return `instance ${instanceId}${configurationName === null ? '' : ` (${configurationName})`}${elsewhere}`;
}

function exitLines(exits: readonly PastExit[]): string[] {
  if (exits.length === 0) return [];
  const lines = exits.flatMap((exit, index) => [
    `  ${exitText(exit)}`,
    ...exit.lastLines
      .slice(index === 0 ? -LINES_OF_NEWEST : -LINES_OF_OLDER)
      .map((line) => cutText(`    | ${line.replaceAll('\t', '  ')}`, WIDTH)),
  ]);
  return ['Last runs, newest first', ...lines];
}

function exitText(exit: PastExit): string {
  const asked = exit.wasAsked ? ', as asked' : '';
  const note = exit.linesNote === null ? '' : `; ${exit.linesNote}`;
  return `run ${exit.run} ${endText(exit)}${asked} ${durationText(exit.agoMs)} ago (${instantText(exit.at)})${note}`;
}

/** Indented rows under a title, columns aligned, the last one wrapped; nothing when there are no rows. */
function table(title: string, rows: readonly (readonly string[])[], total: number): string[] {
  if (rows.length === 0) return [];
  const more = total - rows.length;
  const lines = [...renderTable([], rows).split('\n'), ...(more > 0 ? [`and ${more} more`] : [])];
  return [title, ...lines.map((line) => `  ${line}`)];
}

function field(label: string, text: string | null): string[] {
  return text === null ? [] : [`  ${label.padEnd(LABEL - 2)}${plainLine(text)}`];
}

function plainLine(text: string): string {
  return toPlainText(text.replace(/\s+/g, ' ')).trim();
}

function blocks(parts: readonly (readonly string[])[], columns = WIDTH): string {
  const text = parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
  return wrapText(text, columns);
}
