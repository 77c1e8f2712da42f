/** Makes text safe to print, without characters that a terminal would obey. */
import { toPlainText } from '../telemetry/plain-text.js';

/** Characters that JSON.stringify does not escape, and that a terminal may obey. */
const RAW_CONTROL = /[\x7f-\x9f]/g;

/** Returns JSON that ends with a newline and holds no control characters. */
export function jsonText(value: unknown): string {
  const text =
    Array.isArray(value) && value.length > 0
      ? `[\n${value.map((element) => JSON.stringify(element)).join(',\n')}\n]`
      : JSON.stringify(value, null, 2);
  return `${escapeControl(text)}\n`;
}

/** Returns JSON on one line that ends with a newline and holds no control characters. */
export function jsonLine(value: unknown): string {
  return `${escapeControl(JSON.stringify(value))}\n`;
}

function escapeControl(json: string): string {
  return json.replace(RAW_CONTROL, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
}

/** Whole lines without control characters, ended by a newline. */
export function plainLines(text: string): string {
  const lines = text.endsWith('\n') ? text.slice(0, -1) : text;
  return `${lines.split('\n').map(toPlainText).join('\n')}\n`;
}
