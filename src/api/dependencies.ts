/** Everything that the API serves: the master's reads and writes, and the parts that only requests need. */
import type { FastifyRequest } from 'fastify';
import type { SignInCodes } from '../access/sign-in-codes.js';
import type { Reads } from '../operations/reads.js';
import type { Writes } from '../operations/writes.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { DashboardFiles } from './dashboard/dashboard-files.js';
import type { CommandRunner } from './http/command-runner.js';
import type { InstanceView } from './routes/instances/instance-view.js';

export type ApiDependencies = Reads &
  Writes & {
    readonly commands: CommandRunner;
    readonly dashboard: Pick<DashboardFiles, 'require' | 'read'>;
    /** True once every mirror is loaded and the configuration files are read. Until then the answer is 503. */
    isReady(): boolean;
    /** True once the keys are loaded, leading or not. Until then not even requests about this node are answered. */
    hasKeys(): boolean;
    /** Returns the id of the instance that the token belongs to, or undefined. */
    verifyInstanceToken(token: string): string | undefined;
    readonly metrics: Metrics;
    readonly logger: Logger;
  };

/** Everything that the handlers of routes use: what the API serves, and the server's own parts. */
export type RouteNeeds = ApiDependencies & {
  readonly view: InstanceView;
  readonly codes: Pick<SignInCodes, 'make' | 'take'>;
  readonly gate: {
    /** Notes an invalid sign-in code in the log and the audit trail. */
    noteWrongCode(request: FastifyRequest): void;
  };
};
