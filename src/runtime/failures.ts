/** The errors with which every runtime refuses. */
import { DroverError } from '../model/errors.js';
import type { RunId } from './runtime.js';

export function unavailable(message: string, cause?: unknown): DroverError {
  return new DroverError('DRV_RUNTIME_UNAVAILABLE', message, { cause });
}

export function startFailed(message: string, cause?: unknown): DroverError {
  return new DroverError('DRV_RUNTIME_START_FAILED', message, { cause });
}

export function notRunning({ instanceId }: RunId): DroverError {
  return new DroverError('DRV_INSTANCE_NOT_RUNNING', `instance ${instanceId} is not running`);
}
