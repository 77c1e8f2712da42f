/** The `process` runtime: plain processes on terminals that a detached owner process holds. */
import { messageOf } from '../../model/errors.js';
import { type KeptKind, KeptRuntime, type KeptRuntimeOptions } from '../owner/kept-runtime.js';
import { loadNativePty } from './native-pty.js';

/** A fork takes milliseconds, and seconds on a machine that swaps: an owner that is silent for this long is stuck. */
const START_TIMEOUT_MS = 30_000;

export interface ProcessRuntimeOptions extends KeptRuntimeOptions {
  /** The path of the built owner-main.js. */
  readonly ownerProgram: string;
}

export function processRuntime({ ownerProgram, ...options }: ProcessRuntimeOptions): KeptRuntime {
  return new KeptRuntime('process', ownerKind(ownerProgram), options);
}

export function ownerKind(program: string): KeptKind {
  return {
    name: 'owner',
    title: 'the owner process',
    program,
    parameters: [],
    startTimeoutMs: START_TIMEOUT_MS,
    diesWithOwner: true,
    probe: async () => ({ version: null, reason: obstacle() }),
    hasLeftRuns: () => false,
  };
}

/** Why no instance could start here, so that placement chooses another node; null: nothing is missing. */
function obstacle(): string | null {
  try {
    loadNativePty();
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
