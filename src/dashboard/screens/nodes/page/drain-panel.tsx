/** The live progress of a drain. */
import type { DrainProgress } from '../../../../model/node-drain.js';
import { Panel } from '../../../parts/page.js';
import { Time } from '../../../parts/time.js';
import { useServices } from '../../../services/services.js';
import { text } from '../text.js';

export function DrainPanel({ drain }: { readonly drain: DrainProgress }) {
  const { clock } = useServices();
  const { isDrained, left, deadline, since, waitingFor } = drain;
  return (
    <Panel
      title={text.drainPanel}
      about={
        <>
          {text.began} <Time at={since} />
        </>
      }
    >
      <div class="panel-text" aria-live="polite">
        <p class="drain-left">{isDrained ? text.isDrained : text.left(left)}</p>
        {!isDrained && (
          <p class="quiet">
            {deadline > clock.value ? (
              <>
                {text.until} <Time at={deadline} />
              </>
            ) : (
              text.noWait
            )}
          </p>
        )}
        {waitingFor.length > 0 && (
          <>
            <h3>{text.waitingFor}</h3>
            <ul class="drain-waiting">
              {waitingFor.map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
          </>
        )}
      </div>
    </Panel>
  );
}
