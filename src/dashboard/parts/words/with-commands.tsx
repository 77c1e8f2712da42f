/** The server's sentences name commands between backticks; the page shows them as code. */
import type { ComponentChildren } from 'preact';

export function withCommands(sentence: string): ComponentChildren {
  return sentence.split('`').map((part, place) => (place % 2 === 1 ? <code key={place}>{part}</code> : part));
}
