/** `drover context list`, `use` and `remove`. */
import { EXIT } from '../../command-tree/runs/client-error.js';
import { fingerprintOf, type Trust } from '../connection/trust.js';
import { unknownContext } from './choose-target.js';
import { targetOfContext } from './context.js';
import type { ContextFile } from './context-file.js';

export interface ListedContext {
  readonly name: string;
  readonly isCurrent: boolean;
  /** The address of the master; null: the entry is not valid. */
  readonly url: string | null;
  /** Where the key comes from. Never holds the key itself. */
  readonly key: string | null;
  /** The trusted certificates; null: the context does not use TLS. */
  readonly trust: string | null;
  readonly problem: string | null;
}

/** Returns the contexts by name. Throws a ClientError when the file cannot be used. */
export async function listContexts(file: ContextFile): Promise<ListedContext[]> {
  const { current, contexts } = await file.read();
  return [...contexts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, entry]) => listed(name, entry, name === current));
}

/** Makes a context the current one. Throws a ClientError. */
export async function useContext(file: ContextFile, name: string): Promise<void> {
  await file.change(({ contexts }) => {
    if (!contexts.has(name)) throw unknownContext(name, contexts, EXIT.notFound);
    return { current: name, contexts };
  });
}

/**
 * Removes a context. Returns true if it was the current one; afterwards no context is current. Throws a ClientError.
 */
export async function removeContext(file: ContextFile, name: string): Promise<boolean> {
  let wasCurrent = false;
  await file.change(({ current, contexts }) => {
    const left = new Map(contexts);
    if (!left.delete(name)) throw unknownContext(name, contexts, EXIT.notFound);
    wasCurrent = current === name;
    return { current: wasCurrent ? null : current, contexts: left };
  });
  return wasCurrent;
}

function listed(name: string, entry: unknown, isCurrent: boolean): ListedContext {
  try {
    const { url, key, trust } = targetOfContext(name, entry);
    const [program] = key.kind === 'command' ? key.words : [];
    const from = key.kind === 'text' ? 'in this file' : key.kind === 'file' ? key.path : `command ${program}`;
    const isSecure = url.startsWith('https:');
    return { name, isCurrent, url, key: from, trust: isSecure ? trustText(trust) : null, problem: null };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { name, isCurrent, url: null, key: null, trust: null, problem };
  }
}

function trustText(trust: Trust): string {
  switch (trust.kind) {
    case 'system':
      return 'known authorities';
    case 'file':
      return `authorities in ${trust.path}`;
    case 'pinned':
      return `pinned, SHA-256 ${fingerprintOf(trust.certificate)}`;
  }
}
