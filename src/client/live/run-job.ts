/** `drover run`: starts a run of a job, prints its log, and ends with its exit code. */
import { pathPart } from '../../command-tree/runs/api-calls.js';
import { ClientError, EXIT, isTransient } from '../../command-tree/runs/client-error.js';
import type { JobOrder } from '../../model/fields/job.js';
import type { InstanceInfo } from '../../model/instance.js';
import type { ApiClient } from '../api-client.js';
import type { LiveOutput } from './live-output.js';
import { EVERYTHING, followLogs } from './logs.js';

/** Starts a run. When the answer is lost, the error says how to repeat the request. Throws a ClientError. */
export async function startRun(api: ApiClient, name: string, order: JobOrder): Promise<InstanceInfo> {
  try {
    return await api.send('POST', `/configurations/${pathPart(name)}/run`, order);
  } catch (error) {
    if (!isTransient(error)) throw error;
    const unsure = `whether the run began is not known: with --key ${order.key} the command starts no second one`;
    throw new ClientError(error.exitCode, `${error.message}; ${unsure}`, { cause: error });
  }
}

/** Prints the log of a run until it has ended. Throws a ClientError with its exit code, unless that is 0. */
export async function followRun(api: ApiClient, id: string, output: LiveOutput): Promise<void> {
  await followLogs(api, id, { ...EVERYTHING, since: { line: 1 }, tail: Number.POSITIVE_INFINITY }, output);
  const { exitCode, exitSignal, reason, message } = await api.get<InstanceInfo>(`/instances/${pathPart(id)}`);
  if (exitCode === 0 && reason === 'exited') return;
  // For all signals: 128 and the number of SIGKILL, as shells say it.
  const ownCode = exitCode || (exitSignal === null ? EXIT.failed : 137);
  throw new ClientError(
    reason === 'timed-out' ? EXIT.timedOut : ownCode,
    `run ${id}: ${message ?? 'goes on'}`,
  );
}
