/** How the last runs of the instance ended, with the last lines of each. */

import type { InstanceRuns } from '../../../explain/explanation.js';
import type { InstanceInfo } from '../../../model/instance.js';
import { durationText } from '../../../model/plain/duration-text.js';
import { apiPath } from '../../api/api-client.js';
import { bytes } from '../../parts/amounts.js';
import { Empty, Failure } from '../../parts/notes.js';
import { Fact, Panel } from '../../parts/page.js';
import { Badge } from '../../parts/state-badge.js';
import { Time } from '../../parts/time.js';
import { useAsked } from '../../services/services.js';
import { endOf, isGoodEnd } from './log/run-ends.js';
import { text } from './text.js';

type Run = InstanceRuns['runs'][number];

const LINES = 10;

/**
 * The last runs of an instance; null: it was removed, and nobody knows them. They are asked for again when a run has ended
 * or begun.
 */
export function useRuns(instance: InstanceInfo, lines: number, isRemoved = false) {
  const { id, state, restarts, exitCode, processPid } = instance;
  return useAsked(
    async (api, signal) =>
      isRemoved
        ? null
        : api.get<InstanceRuns>(apiPath('instances', id, 'runs'), { query: { lines }, signal }),
    [id, isRemoved, state, restarts, exitCode, processPid],
  );
}

export function RunsPanel({ instance }: { readonly instance: InstanceInfo }) {
  const asked = useRuns(instance, LINES);
  const { value, error } = asked.value;
  return (
    <div class="stack runs">
      {error !== null && <Failure error={error} onRetry={asked.again} />}
      {value?.current != null && (
        <p class="quiet">{text.runs.current(value.current.run, durationText(value.current.upForMs))}</p>
      )}
      {value?.runs.map((run) => (
        <PastRun key={`${run.run} ${run.at}`} run={run} />
      ))}
      {value?.runs.length === 0 && <Empty title={text.runs.none} hint={text.runs.noneHint} />}
    </div>
  );
}

function PastRun({ run }: { readonly run: Run }) {
  const { begunAt, mostMemoryBytes, lastLines, linesNote, wasAsked } = run;
  return (
    <Panel
      title={text.runs.run(run.run)}
      about={
        <div class="inline">
          <Badge tone={isGoodEnd(run) ? 'still' : 'bad'} label={endOf(run)} />
          <span>{wasAsked ? text.runs.asked : text.runs.crashed}</span>
        </div>
      }
    >
      <dl class="facts">
        <Fact name={text.runs.ended}>
          <Time at={run.at} />
        </Fact>
        {begunAt !== undefined && <Fact name={text.runs.lasted}>{durationText(run.at - begunAt)}</Fact>}
        {mostMemoryBytes !== undefined && <Fact name={text.runs.memory}>{bytes(mostMemoryBytes)}</Fact>}
        <Fact name={text.runs.lastLines}>
          {lastLines.length > 0 ? (
            <section class="output" aria-label={text.runs.lastLines}>
              <pre>{lastLines.join('\n')}</pre>
            </section>
          ) : (
            (linesNote ?? text.runs.noLines)
          )}
        </Fact>
      </dl>
    </Panel>
  );
}
