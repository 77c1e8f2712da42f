/** The text that a write of the API leaves in a file: an edit of the text that the file has. */
import { NO_BASES } from '../../src/configuration-files/extends.js';
import { fileTextFor } from '../../src/configuration-files/file-text.js';
import { parseConfigurationFile, validateConfiguration } from '../../src/configuration-files/parse.js';

/** The text of `a.json`, which has `text`, after a PUT of `content`. */
export function editedText(text: string, content: unknown): string {
  const result = parseConfigurationFile('a.json', text);
  const parsed = 'parsed' in result ? result.parsed : undefined;
  return fileTextFor('a.json', validateConfiguration('a', content), { text, bases: NO_BASES, parsed }).text;
}
