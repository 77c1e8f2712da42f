/** How the last runs of the instance ended, with the last lines of each. */

import type { InstanceRuns } from '../../../explain/explanation.js';
import type { InstanceInfo } from '../../../model/instance.js';
import { apiPath } from '../../api/api-client.js';
import { bytes } from '../../parts/amounts.js';
import { Empty } from '../../parts/empty.js';
import { Failure } from '../../parts/failure.js';
import { Badge } from '../../parts/state-badge.js';
import { durationText, Time } from '../../parts/time.js';
import { useAsked } from '../../services/use-live.js';
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
    <section class="panel">
      <header class="panel-head">
        <h2>{text.runs.run(run.run)}</h2>
        <div class="inline">
          <Badge tone={isGood ? 'still' : 'bad'} label={endOf(run)} />
          <span class="quiet">{wasAsked ? text.runs.asked : text.runs.crashed}</span>
        </div>
      </header>
      <dl class="facts">
        <dt>{text.runs.ended}</dt>
        <dd>
          <Time at={run.at} />
        </dd>
        {begunAt !== undefined && (
          <>
            <dt>{text.runs.lasted}</dt>
            <dd>{durationText(run.at - begunAt)}</dd>
          </>
        )}
        {mostMemoryBytes !== undefined && (
          <>
            <dt>{text.runs.memory}</dt>
            <dd>{bytes(mostMemoryBytes)}</dd>
          </>
        )}
        <dt>{text.runs.lastLines}</dt>
        <dd>
          {lastLines.length > 0 ? (
            <section class="output" aria-label={text.runs.lastLines}>
              <pre>{lastLines.join('\n')}</pre>
            </section>
          ) : (
            (linesNote ?? text.runs.noLines)
          )}
        </dd>
      </dl>
    </section>
  );
}

function endOf({ code, signal, cause }: Run): string {
  if (cause !== undefined) return cause;
  if (signal !== null) return text.runs.signal(signal);
  return code === null ? text.runs.unknown : text.runs.code(code);
}
