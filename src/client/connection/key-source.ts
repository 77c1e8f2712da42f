/** The sources of a connection's key. A key never appears in arguments, messages or logs. */
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';
import { readPrivateText } from './private-text.js';

export type KeySource =
  /** `from` names the source of the key in messages, such as `DROVER_KEY`. */
  | { readonly kind: 'text'; readonly key: string; readonly from: string }
  | { readonly kind: 'file'; readonly path: string }
  /** A program and its parameters; the program prints the key. */
  | { readonly kind: 'command'; readonly words: readonly string[] };

/** Only visible characters are allowed, because the key is sent in a header. */
const KEY = /^[\x21-\x7e]{8,512}$/;

/** Reads the key anew at each call, from its file or command. Throws a ClientError that does not contain the key. */
export async function readKey(source: KeySource): Promise<string> {
  switch (source.kind) {
    case 'text':
      return checkKey(source.key, source.from);
    case 'file':
      return checkKey(await readKeyFile(source.path), `the key file ${source.path}`);
    case 'command': {
      const { runKeyCommand } = await import('./key-command.js');
      return checkKey(await runKeyCommand(source.words), `the output of the key command ${source.words[0]}`);
    }
  }
}

/** Returns the key in `text`, without blanks around it. `from` begins the error message. */
export function checkKey(text: string, from: string): string {
  const key = text.trim();
  if (KEY.test(key)) return key;
  const problem = key === '' ? 'is empty' : 'is no key: one line is expected, of the form drv_...';
  throw new ClientError(EXIT.failed, `${from} ${problem}`);
}

async function readKeyFile(path: string): Promise<string> {
  const text = await readPrivateText('the key file', path);
  if (text === undefined) throw new ClientError(EXIT.failed, `the key file ${path} does not exist`);
  return text;
}
