/** The output of a command, as text and nothing else. */
import { CopyButton } from '../../parts/copy-button.js';
import { visibleText } from '../../parts/words/visible-text.js';
import { text } from './text.js';
import type { Ran } from './use-palette.js';

/** The most characters that are shown: an answer may have 4 MiB, which a browser lays out slowly. */
const MOST_CHARS = 200_000;

export function CommandOutput({ ran: { line, output } }: { readonly ran: Ran }) {
  const isCut = output.length > MOST_CHARS;
  return (
    <section class="palette-output" aria-label={text.output}>
      <div class="palette-ran">
        <code>{visibleText(line)}</code>
        {output !== '' && <CopyButton value={output} label={text.copyOutput} />}
      </div>
      {isCut && <p class="quiet">{text.cut(MOST_CHARS, output.length)}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard must reach that */}
      <pre class="output" role="log" tabIndex={0}>
        {output === '' ? text.noOutput : visibleText(output.slice(0, MOST_CHARS))}
      </pre>
    </section>
  );
}
