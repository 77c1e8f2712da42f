/**
 * The work of a wrapper on this machine for one instance, beside running it. It fetches templates, makes and removes
 * the working directory, composes command line and environment, and reads the log. The wrapper's reconcilers use it.
 */
import { join } from 'node:path';
import type { CallPeer } from '../../channel/protocol/calls.js';
import type { MasterAddress } from '../../channel/protocol/messages.js';
import { type LogLines, MOST_LOG_ANSWER_BYTES } from '../../channel/services/instance-streams.js';
import { requestBundle, requestParts } from '../../channel/services/template-relay.js';
import { followLog } from '../../logs/follow.js';
import type { LineTimes } from '../../logs/line-times.js';
import type { LogBatch, LogPosition } from '../../logs/log-batch.js';
import {
  type LogRange,
  type LogRangeQuery,
  lineAt,
  nextLine,
  readLineTimes,
  readLogRange,
} from '../../logs/log-range.js';
import { LogWatches } from '../../logs/log-watches.js';
import { type FoundLines, type LogSearchQuery, searchLog } from '../../logs/search/log-search.js';
import { SegmentCounts } from '../../logs/segment-counts.js';
import { readLastLines, readSpanLines, type SpanLines } from '../../logs/tail.js';
import type { Clock } from '../../loop/clock.js';
import { DroverError } from '../../model/errors.js';
import { secretsOf } from '../../model/fields/secret.js';
import type { LogPlace, OutputSpan } from '../../model/run/past-exit.js';
import type { FetchCost } from '../../model/template.js';
import { type Desired, hiddenValuesOf } from '../../node/desired-copy.js';
import type { TemplateCache } from '../../templates/transfer/cache.js';
import { asUser } from '../command/as-user.js';
import { substituteCommand } from '../command/command-variables.js';
import { buildEnvironment } from '../command/environment.js';
import { missingInText, missingText } from '../command/missing-variables.js';
import type { NodeUsers, RunUser } from '../command/node-users.js';
import { callOf } from '../command/odd-names.js';
import { buildVariables, type Variables, withSecrets } from '../command/variables.js';
import { DEFAULT_WORKDIR } from '../docker/engine/docker-settings.js';
import { limitFiles } from '../process/shell-prelude.js';
import { AUTHORITY_IN_CONTAINER, type StartSpec } from '../runtime.js';
import { authorityFile } from './api-authority.js';
import { directorySizes, instanceDirectories } from './directory-sizes.js';
import { MasterIp } from './master-ip.js';
import { enterProblem } from './tree-owner.js';
import type { Workspaces } from './workspace.js';

/** The runtime whose programs live in an image, with an environment of its own. */
const DOCKER = 'docker';

interface LocalInstallationOptions {
  readonly nodeId: string;
  /** The node's own address. */
  readonly address: string;
  readonly runningDirectory: string;
  readonly logsDirectory: string;
  /** The path of the file with the cluster's certificate authority, which instances read. */
  readonly apiAuthority: string;
  readonly cache: TemplateCache;
  readonly workspaces: Workspaces;
  readonly clock: Clock;
  /** The daemon's environment. Instances inherit only a short list of its variables. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  readonly users: NodeUsers;
  /** The variables that extensions add. Asked at each install and start; never throws. */
  readonly addedVariables?: (instance: {
    readonly instanceId: string;
    readonly configurationName: string;
    readonly port: number | null;
  }) => Variables;
}

/** The installation as the wrapper sees it; simulations have fakes. */
export type Installation = Pick<LocalInstallation, keyof LocalInstallation>;

export class LocalInstallation {
  readonly #options: LocalInstallationOptions;
  readonly #masterIp: MasterIp;
  readonly #keepAuthority: (pem: string) => Promise<void>;
  readonly #counts = new SegmentCounts();
  readonly #watches = new LogWatches();

  constructor(options: LocalInstallationOptions) {
    this.#options = options;
    this.#masterIp = new MasterIp(options.clock);
    this.#keepAuthority = authorityFile(options.apiAuthority);
  }

  isCached(digest: string): boolean {
    return this.#options.cache.has(digest);
  }

  /** Brings a tree into the cache; asks the master through `calls`. */
  async fetch(
    digest: string,
    calls: CallPeer | undefined,
    signal: AbortSignal,
  ): Promise<FetchCost | undefined> {
    const offer = {
      whole: () => requestBundle(calls, digest, signal),
      parts: requestParts(calls, digest, signal),
    };
    return this.#options.cache.fetch(digest, offer, signal);
  }

  /** Makes the working directory completely or not at all. Resolves with warnings. */
  async install(
    desired: Desired,
    master: MasterAddress | undefined,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { assignment, configuration, secrets } = desired;
    // Await only when a lookup is needed. Otherwise the install must begin in the same turn of the event loop as its
    // round.
    const learning = master && this.#masterIp.learn(master.address, signal);
    if (learning instanceof Promise) await learning;
    if (master?.apiTls?.authority != null) await this.#keepAuthority(master.apiTls.authority);
    const variables = this.#variables(desired, master);
    const owner = this.#options.users.userOf(configuration.runAs);
    const warnings = await this.#options.workspaces.prepare({
      instanceId: assignment.id,
      templates: assignment.templates,
      keep: configuration.static,
      override: configuration.templateInstallationConfig.onTemplatePasteOverridePresentFiles,
      fileModifications: configuration.fileModifications,
      fileEdits: configuration.fileEdits,
      secretFiles: configuration.secretFiles,
      secrets,
      variables,
      owner,
      isContainer: configuration.runtime === DOCKER,
      signal,
    });
    const closed = owner === undefined ? null : await enterProblem(this.#options.runningDirectory, owner);
    const { command, environmentVariables, prepare = [], after = [] } = configuration;
    const known = withSecrets(variables, secrets);
    const missing = (field: string, text: string): string[] =>
      missingInText(text, known).map((name) => `${field} asks for ${missingText(name, variables)}`);
    return [
      ...warnings,
      ...(closed === null ? [] : [closed]),
      ...missing('command', command),
      ...[...prepare, ...after].flatMap((hook) => missing(`a hook (${hook.command})`, hook.command)),
      ...Object.entries(environmentVariables).flatMap(([name, text]) =>
        missing(`environmentVariables.${name}`, text),
      ),
      ...(configuration.fileEdits ?? []).flatMap(({ path, set }) =>
        Object.entries(set).flatMap(([key, value]) => missing(`fileEdits: ${key} of ${path}`, String(value))),
      ),
    ];
  }

  launchSpec(desired: Desired, run: number, master: MasterAddress | undefined): StartSpec {
    const { assignment, configuration, secrets } = desired;
    refuseWithout(desired);
    const variables = this.#variables(desired, master);
    const { command, environment: commandVariables } = substituteCommand(configuration.command, variables);
    const user = this.#options.users.userOf(configuration.runAs);
    const isContainer = configuration.runtime === DOCKER;
    const workingDirectory = join(this.#options.runningDirectory, assignment.id);
    const apiAuthority = master?.apiTls?.authority == null ? undefined : this.#options.apiAuthority;
    const environment = buildEnvironment({
      inherited: isContainer ? null : inheritedBy(user, this.#options.inherited, workingDirectory),
      configuration,
      instance: assignment,
      nodeId: this.#options.nodeId,
      apiUrl: master === undefined ? '' : apiUrlOf(master),
      apiAuthority: isContainer && apiAuthority !== undefined ? AUTHORITY_IN_CONTAINER : apiAuthority,
      apiKey: assignment.apiKey,
      variables: withSecrets(variables, secrets),
      commandVariables,
    });
    const call = callOf({ command, environment });
    const setpriv =
      user === undefined || isContainer
        ? undefined
        : this.#options.users.setpriv(configuration.runtime, configuration.runAs);
    const started = user === undefined || setpriv === undefined ? call : asUser(call, user, setpriv);
    const { pids, nofile: files, ...io } = configuration.limits ?? {};
    const nofile = typeof files === 'number' ? { soft: files, hard: files } : files;
    // Before the change of the user, who may not raise a limit.
    const first = nofile === undefined || isContainer ? '' : `${limitFiles(nofile)}\n`;
    return {
      instanceId: assignment.id,
      run,
      ...started,
      command: first + started.command,
      pids,
      nofile,
      ...io,
      workingDirectory,
      ramMB: configuration.ramMB,
      cpu: configuration.cpu,
      properties:
        user === undefined
          ? configuration.properties
          : { dockerUser: `${user.uid}:${user.gid}`, ...configuration.properties },
      hidden: hiddenValuesOf(desired),
      port: assignment.port,
      ports: assignment.ports,
      ...(apiAuthority !== undefined && { apiAuthority }),
    };
  }

  remove(id: string): Promise<void> {
    return this.#options.workspaces.remove(id);
  }

  /** The ids of the instances that have a working directory. */
  directories(): Promise<readonly string[]> {
    return instanceDirectories(this.#options.runningDirectory);
  }

  /** The bytes of the files in working directories. Directories that cannot be counted are left out. */
  directorySizes(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return directorySizes(this.#options.runningDirectory, ids);
  }

  readLogs(id: string, lines: number): Promise<LogLines> {
    return readLastLines(join(this.#options.logsDirectory, id), lines, this.#counts, MOST_LOG_ANSWER_BYTES);
  }

  /** The log from `position` on, then live, until `signal` aborts. */
  followLogs(id: string, position: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch> {
    const options = { counts: this.#counts, watches: this.#watches, signal };
    return followLog(join(this.#options.logsDirectory, id), position, options);
  }

  /** A part of the log, by time or line number. */
  readLogRange(id: string, query: Omit<LogRangeQuery, 'now'>): Promise<LogRange> {
    const now = this.#options.clock.now();
    return readLogRange(join(this.#options.logsDirectory, id), { ...query, now }, this.#counts);
  }

  /** The times at which the lines from `from` to `to` were written. */
  readLogTimes(id: string, from: number, to: number): Promise<LineTimes> {
    return readLineTimes(join(this.#options.logsDirectory, id), from, to);
  }

  /** The lines of the log that match a pattern, the newest first. */
  searchLog(id: string, query: LogSearchQuery, signal: AbortSignal): Promise<FoundLines> {
    return searchLog(join(this.#options.logsDirectory, id), query, signal);
  }

  /** The number of the first line that a run started now would write. */
  nextLogLine(id: string): Promise<number> {
    return nextLine(join(this.#options.logsDirectory, id), this.#counts);
  }

  /** The number of the line that begins at `place`. */
  logLineAt(id: string, place: LogPlace): Promise<number> {
    return lineAt(join(this.#options.logsDirectory, id), place);
  }

  /** The last lines of a single run. */
  readOutput(id: string, span: OutputSpan, lines: number): Promise<SpanLines> {
    return readSpanLines(join(this.#options.logsDirectory, id), span, lines);
  }

  #variables({ assignment, configuration }: Desired, master: MasterAddress | undefined): Variables {
    const address = master?.address ?? '';
    const { id: instanceId, configurationName, port } = assignment;
    const added = this.#options.addedVariables?.({ instanceId, configurationName, port });
    return buildVariables({
      ...(added !== undefined && { added }),
      instance: assignment,
      configuration,
      workingDirectory:
        configuration.runtime === DOCKER
          ? (configuration.properties.dockerWorkdir ?? DEFAULT_WORKDIR)
          : join(this.#options.runningDirectory, instanceId),
      node: { nodeId: this.#options.nodeId, address: this.#options.address },
      master: {
        address,
        ip: this.#masterIp.of(address),
        port: master?.port ?? 0,
        apiPort: master?.apiPort ?? 0,
      },
    });
  }
}

/** Throws DRV_SECRET_MISSING for a start whose secrets were not read, such as after the loss of this node's key. */
function refuseWithout({ configuration, secrets }: Desired): void {
  const unread = [...secretsOf(configuration)].filter((name) => secrets?.has(name) !== true);
  if (unread.length > 0)
    throw new DroverError('DRV_SECRET_MISSING', `not read for this start: the secrets ${unread.join(', ')}`);
}

/**
 * Replaces the variables of Drover's environment that describe its user (HOME, USER, SHELL) with the instance's user.
 * Empty values are left out.
 */
function inheritedBy(
  user: RunUser | undefined,
  inherited: LocalInstallationOptions['inherited'],
  workingDirectory: string,
): LocalInstallationOptions['inherited'] {
  if (user === undefined) return inherited;
  const { name, home, shell } = user;
  return { ...inherited, HOME: home ?? workingDirectory, USER: name ?? '', SHELL: shell ?? '/bin/sh' };
}

function apiUrlOf({ address, apiPort, apiTls }: MasterAddress): string {
  // An IPv6 address stands in brackets in a URL.
  const host = address.includes(':') ? `[${address}]` : address;
  return `${apiTls === undefined ? 'http' : 'https'}://${host}:${apiPort}/api`;
}
