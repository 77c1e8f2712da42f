/**
 * Shows why a thing is in its state, in the words of the server. Asks again every few seconds, and when `keys`
 * change.
 */
import type { ComponentChildren } from 'preact';
import type { InstanceExplanation } from '../../explain/explanation.js';
import { useGot, useRound } from '../services/services.js';
import { Failure } from './notes.js';
import { Panel } from './page.js';
import { text } from './text.js';
import { withCommands } from './words/with-commands.js';

interface WhyPanelProps<T> {
  readonly path: string;
  /** The panel asks again when one of these values changes. */
  readonly keys: readonly unknown[];
  /** Renders the parts of the answer that only this kind of thing has. */
  readonly children?: (why: T) => ComponentChildren;
}

type Told = Pick<InstanceExplanation, 'verdict' | 'notes' | 'next' | 'advice'>;

export function WhyPanel<T extends Told>({ path, keys, children }: WhyPanelProps<T>) {
  // Ask again each round: the answer may name the time of the next try, and that time passes without a change of the
  // thing.
  const asked = useGot<T>(path, [useRound(), ...keys]);
  const { value: why, error } = asked.value;
  return (
    <Panel title={text.why.title}>
      {error !== null && <Failure error={error} onRetry={asked.again} />}
      {why === undefined ? (
        error === null && <p class="panel-text quiet">{text.loading}</p>
      ) : (
        <div class="panel-text">
          <p class="why-verdict text-lg">{withCommands(why.verdict)}</p>
          {why.notes.map((note) => (
            <p key={note}>{withCommands(note)}</p>
          ))}
          <Line label={text.why.next}>{why.next ?? text.why.nothing}</Line>
          <Line label={text.why.advice}>{why.advice ?? text.why.noAdvice}</Line>
          {children?.(why)}
        </div>
      )}
    </Panel>
  );
}

function Line({ label, children }: { readonly label: string; readonly children: string }) {
  return (
    <p>
      <span class="quiet">{label}: </span>
      {withCommands(children)}
    </p>
  );
}
