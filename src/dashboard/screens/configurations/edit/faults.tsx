/**
 * The problems that keep the text from being saved, and the warnings about parts without effect. Each is a link to
 * its place in the text.
 */

import type { JudgedText } from '../../../../operations/configuration-content.js';
import { Button } from '../../../parts/button.js';
import type { Fault } from '../../../parts/editor/editor-setup.js';
import { text } from '../text.js';

interface FaultsProps {
  readonly judged: JudgedText;
  readonly onGo: (place: Pick<Fault, 'line' | 'column'>) => void;
}

export function Faults({ judged: { problems, warnings }, onGo }: FaultsProps) {
  const lists = [
    { title: text.faultsTitle, faults: problems },
    { title: text.hintsTitle, faults: warnings },
  ].filter(({ faults }) => faults.length > 0);
  return lists.map(({ title, faults }) => (
    <section key={title} aria-label={title}>
      <h3>{title}</h3>
      <ul class="faults">
        {faults.map(({ line, column, field, message }) => (
          <li key={`${line} ${column} ${field} ${message}`} class="fault">
            {line !== null && (
              <Button kind="quiet" onPress={() => onGo({ line, column })}>
                {text.place(line, column ?? 1)}
              </Button>
            )}
            <span>
              {field !== '' && <strong class="mono">{field}</strong>} <bdi>{message}</bdi>
            </span>
          </li>
        ))}
      </ul>
    </section>
  ));
}
