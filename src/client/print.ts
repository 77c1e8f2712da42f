/** Prints a command's result on stdout, in the requested format, and nothing else there. */
import type { View } from '../command-tree/command.js';
import type { Shown } from '../command-tree/commands.js';
import { jsonText, plainLines } from '../command-tree/printed-text.js';
import { type ClientError, failedError, usageError } from '../command-tree/runs/client-error.js';
import type { Screen } from '../command-tree/table.js';
import { settleMarks } from '../command-tree/tones.js';
import { messageOf } from '../model/errors.js';
import { wrapText } from '../model/plain/wrap-text.js';

export const COLOR_WHEN = ['auto', 'always', 'never'] as const;
export type ColorWhen = (typeof COLOR_WHEN)[number];

export const FORMATS = ['table', 'wide', 'name', 'json', 'yaml'] as const;
/** `markdown`: only for commands that list it among their formats. */
export type Format = (typeof FORMATS)[number] | 'markdown';

/**
 * Returns the result as whole lines, or an empty text. Throws a ClientError for the format `name` when the result
 * has no names.
 */
export async function textOf(shown: Shown, format: Format, screen: Omit<View, 'isWide'>): Promise<string> {
  switch (format) {
    case 'table':
    case 'wide': {
      const text = await shown.text({ ...screen, isWide: format === 'wide' });
      return text === '' ? '' : screenText(text, screen, shown.isVerbatim);
    }
    case 'name': {
      if (shown.names === undefined) throw noNames();
      return shown
        .names()
        .map((name) => plainLines(name))
        .join('');
    }
    case 'markdown':
      if (shown.markdown === undefined) throw usageError('this command does not print Markdown');
      return plainLines(shown.markdown());
    case 'json':
      return jsonText(shown.json());
    case 'yaml': {
      const { stringify } = await import('yaml');
      // Convert through JSON first, to drop undefined fields as in the JSON format.
      return stringify(JSON.parse(jsonText(shown.json())), { lineWidth: 0 });
    }
  }
}

/** Text for a person: plain lines, wrapped at the width of the screen, with its colours. */
export function screenText(text: string, { columns, isColoured }: Screen, isVerbatim = false): string {
  const plain = plainLines(text);
  const wrapped = columns === undefined || isVerbatim ? plain : wrapText(plain, columns);
  return settleMarks(wrapped, isColoured === true);
}

/** The screen behind `stdout`, whose text is coloured as `--color` and NO_COLOR say. */
export function screenOf(
  { isTTY, columns }: Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>>,
  color: ColorWhen,
  { NO_COLOR = '', TERM }: NodeJS.ProcessEnv,
): Screen {
  const isUsual = isTTY === true && NO_COLOR === '' && TERM !== 'dumb';
  return {
    // Some terminals report a width of 0 because they do not know it.
    columns: isTTY === true ? columns || undefined : undefined,
    isColoured: color === 'always' || (color === 'auto' && isUsual),
  };
}

export function noNames(): ClientError {
  return usageError('what this command shows has no names: use another format than -o name');
}

/**
 * Resolves with true when the text was written, and with false when the reader has gone: `drover ... | head` is no
 * failure. Throws a ClientError for any other failure, such as a full disk.
 */
export async function write(stream: NodeJS.WritableStream, text: string): Promise<boolean> {
  if (text === '') return true;
  return new Promise<boolean>((resolve, reject) => {
    // The stream reports an error to the callback and as an event: ignore the event.
    const ignore = (): void => {};
    stream.once('error', ignore);
    stream.write(text, (error) => {
      if (error == null || isGone(error)) {
        if (error == null) stream.removeListener('error', ignore);
        resolve(error == null);
      } else reject(failedError(`stdout cannot be written: ${messageOf(error)}`));
    });
  });
}

/** True when the error means that the stream's reader has gone. */
export function isGone(error: Error): boolean {
  return 'code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED');
}
