/**
 * Checks a daemon's messages before the owner acts on them. Written by hand, because a schema library would double the
 * owner's memory.
 */
import type { AttachRequest, OwnerRequest, OwnerRun, StartRequest } from './protocol.js';

/** Returns the request; undefined: the value is no known request. */
export function parseRequest(value: unknown): OwnerRequest | undefined {
  if (!isObject(value)) return undefined;
  switch (value.type) {
    case 'hello':
      return isHello(value) ? value : undefined;
    case 'start':
      return isStart(value) ? value : undefined;
    case 'write':
    case 'acknowledge':
      return isAboutRun(value) ? value : undefined;
    case 'attach':
      return isAttach(value) ? value : undefined;
    case 'input':
      return { type: 'input' };
    case 'resize':
      return hasSize(value) ? value : undefined;
    default:
      return undefined;
  }
}

type Fields = Record<string, unknown>;
type Resize = Extract<OwnerRequest, { type: 'resize' }>;
type AboutRun = Extract<OwnerRequest, { type: 'write' | 'acknowledge' }>;

function isHello(value: Fields): value is Fields & Extract<OwnerRequest, { type: 'hello' }> {
  return typeof value.protocol === 'number' && typeof value.rootId === 'string';
}

function isStart(value: Fields): value is Fields & StartRequest {
  const { log, environment, controlGroups = [] } = value;
  return (
    hasIdAndRun(value) &&
    typeof value.command === 'string' &&
    typeof value.workingDirectory === 'string' &&
    isObject(environment) &&
    Object.values(environment).every((entry) => typeof entry === 'string') &&
    Array.isArray(controlGroups) &&
    controlGroups.every((entry) => typeof entry === 'string') &&
    isObject(log) &&
    typeof log.directory === 'string' &&
    typeof log.segmentBytes === 'number' &&
    typeof log.segments === 'number'
  );
}

function isAboutRun(value: Fields): value is Fields & AboutRun {
  return hasIdAndRun(value);
}

function isAttach(value: Fields): value is Fields & AttachRequest {
  return typeof value.rootId === 'string' && hasRun(value) && hasSize(value);
}

function hasSize(value: Fields): value is Fields & Resize {
  return isLength(value.columns) && isLength(value.rows);
}

/** True for a width or height that a terminal takes. */
function isLength(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 0xffff;
}

function hasIdAndRun(value: Fields): value is Fields & OwnerRun & { id: number } {
  return typeof value.id === 'number' && hasRun(value);
}

function hasRun(value: Fields): value is Fields & OwnerRun {
  return typeof value.instanceId === 'string' && typeof value.run === 'number';
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
