/** Converts one context from and to its entry in the file. */
import { isAbsolute } from 'node:path';
import { type ClientError, failedError, usageError } from '../../command-tree/runs/client-error.js';
import { NAME } from '../../model/plain/name.js';
import { quoteText } from '../../model/words.js';
import type { KeySource } from '../connection/key-source.js';
import { parseMasterUrl } from '../connection/master-url.js';
import type { Target } from '../connection/target.js';
import { isCertificate, type Trust } from '../connection/trust.js';
import { type Fields, isFields } from './context-file.js';

/** The same pattern as for names of configurations and nodes. */
/** Throws a ClientError for a name that no context may have. */
export function checkContextName(name: string): void {
  if (NAME.test(name)) return;
  throw usageError(
    `a context cannot be named ${quoteText(name)}: begin with a letter or digit, and use only letters, digits, ".", "_" and "-" (64 characters at most)`,
  );
}

/** Returns the target that the entry describes. */
export function targetOfContext(name: string, entry: unknown): Target {
  const fail = (problem: string): ClientError =>
    failedError(`context ${name}: ${problem}; mend it, or remove the context and add it again`);
  if (!isFields(entry)) throw fail('it must be an object');
  const { url } = entry;
  if (typeof url !== 'string') throw fail('it has no url');
  return {
    name,
    kind: 'context',
    url: parseMasterUrl(url, `the url of context ${name}`),
    key: keyOf(entry, `context ${name}`, fail),
    trust: trustOf(entry, `the CA file of context ${name}`, fail),
  };
}

function keyOf({ key, keyFile, keyCommand }: Fields, from: string, fail: Fail): KeySource {
  const given = [key, keyFile, keyCommand].filter((value) => value !== undefined);
  if (given.length !== 1) throw fail('it must have one of key, keyFile and keyCommand');
  if (typeof key === 'string') return { kind: 'text', key, from: `the key of ${from}` };
  if (typeof keyFile === 'string' && isAbsolute(keyFile)) return { kind: 'file', path: keyFile };
  if (isWords(keyCommand)) return { kind: 'command', words: keyCommand };
  throw fail('key must be a text, keyFile an absolute path, keyCommand an array of words');
}

function trustOf({ caFile, certificate }: Fields, from: string, fail: Fail): Trust {
  if (caFile !== undefined && certificate !== undefined)
    throw fail('it must have one of caFile and certificate');
  if (caFile === undefined && certificate === undefined) return { kind: 'system' };
  if (typeof caFile === 'string' && isAbsolute(caFile)) return { kind: 'file', path: caFile, from };
  if (typeof certificate === 'string' && isCertificate(certificate)) return { kind: 'pinned', certificate };
  throw fail('caFile must be an absolute path, certificate a certificate in PEM');
}

/** Returns the entry from which `targetOfContext` reads this target. */
export function entryOf({ url, key, trust }: Pick<Target, 'url' | 'key' | 'trust'>): Fields {
  return { url, ...keyFields(key), ...trustFields(trust) };
}

function keyFields(source: KeySource): Fields {
  switch (source.kind) {
    case 'text':
      return { key: source.key };
    case 'file':
      return { keyFile: source.path };
    case 'command':
      return { keyCommand: source.words };
  }
}

function trustFields(trust: Trust): Fields {
  switch (trust.kind) {
    case 'system':
      return {};
    case 'file':
      return { caFile: trust.path };
    case 'pinned':
      return { certificate: trust.certificate };
  }
}

type Fail = (problem: string) => ClientError;

function isWords(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === 'string');
}
