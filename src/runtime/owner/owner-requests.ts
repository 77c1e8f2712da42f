/** Checks a daemon's messages before the owner acts on them. */
import { type Check, fields, isNumber, isText, listOf, mapOf, only, orNone } from './checks.js';
import type { OwnerRequest, StartRequest } from './protocol.js';

const RUN = { instanceId: isText, run: isNumber };
const NUMBERED = { id: isNumber, ...RUN };
/** A width or height that a terminal takes. */
const isLength: Check<number> = (value): value is number =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 0xffff;
const SIZE = { columns: isLength, rows: isLength };
export const isLog = fields<StartRequest['log']>({
  directory: isText,
  segmentBytes: isNumber,
  segments: isNumber,
});

const REQUESTS: { readonly [T in OwnerRequest['type']]: Check<Extract<OwnerRequest, { type: T }>> } = {
  hello: fields({ type: only('hello'), protocol: isNumber, rootId: isText }),
  start: fields<StartRequest>({
    type: only('start'),
    ...NUMBERED,
    command: isText,
    workingDirectory: isText,
    environment: mapOf(isText),
    controlGroups: orNone(listOf(isText)),
    log: isLog,
  }),
  write: fields({ type: only('write'), ...NUMBERED }),
  acknowledge: fields({ type: only('acknowledge'), ...NUMBERED }),
  attach: fields({ type: only('attach'), rootId: isText, ...RUN, ...SIZE }),
  input: fields({ type: only('input') }),
  resize: fields({ type: only('resize'), ...SIZE }),
};

/** Returns the request; undefined: the value is no known request. */
export function parseRequest(value: unknown): OwnerRequest | undefined {
  for (const check of Object.values(REQUESTS)) if (check(value)) return value;
  return undefined;
}
