/** How the last runs of the instance ended, with the last lines of each. */

import type { InstanceRuns } from '../../../explain/explanation.js';
import type { InstanceInfo } from '../../../model/instance.js';
import { apiPath } from '../../api/api-client.js';
import { bytes } from '../../parts/amounts.js';
import { Empty, Failure } from '../../parts/notes.js';
import { Fact, Panel } from '../../parts/page.js';
import { Badge } from '../../parts/state-badge.js';
import { durationText, Time } from '../../parts/time.js';
import { useAsked } from '../../services/services.js';
import { text } from './text.js';

type Run = InstanceRuns['runs'][number];

const LINES = 10;

export function RunsPanel({ instance }: { readonly instance: InstanceInfo }) {
  const { id, state, restarts, exitCode, processPid } = instance;
  const asked = useAsked(
    (api, signal) =>
      api.get<InstanceRuns>(apiPath('instances', id, 'runs'), { query: { lines: LINES }, signal }),
    [id, state, restarts, exitCode, processPid],
  );
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
  const isGood = wasAsked || run.code === 0;
  return (
    <Panel
      title={text.runs.run(run.run)}
      about={
        <div class="inline">
          <Badge tone={isGood ? 'still' : 'bad'} label={endOf(run)} />
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

function endOf({ code, signal, cause }: Run): string {
  if (cause !== undefined) return cause;
  if (signal !== null) return text.runs.signal(signal);
  return code === null ? text.runs.unknown : text.runs.code(code);
}
