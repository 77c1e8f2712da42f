/**
 * Finds out how far the daemon may use this machine's control groups, and opens them, or says why limits are advisory.
 */
import { messageOf } from '../../model/errors.js';
import type { Logger } from '../../telemetry/logger.js';
import { ControlGroups } from './control-groups.js';
import { diskUnder } from './disk.js';
import { GroupFiles } from './group-files.js';
import type { Hierarchy } from './hierarchy.js';
import { type OwnGroups, readOwnGroups } from './own-groups.js';
import { advisoryLimits, type ResourceLimits } from './resource-limits.js';
import { openVersion1 } from './version-1.js';
import { openVersion2, type Version2Options } from './version-2.js';

/**
 * The variable that a systemd unit with Delegate=yes sets to `delegated`. The daemon then starts in a control group
 * of version 2 that is Drover's alone.
 */
const DELEGATION_VARIABLE = 'DROVER_CONTROL_GROUP';

interface OpenLimitsOptions {
  readonly rootId: string;
  /** The directory that holds those of the instances. */
  readonly directory: string;
  /** The daemon's own environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
}

/** Opens the limits of this machine. Never throws: where limits cannot hold they are advisory, and the log says so. */
export async function openLimits(options: OpenLimitsOptions): Promise<ResourceLimits> {
  const limits = await open(options);
  if (limits.advisory !== null)
    options.logger.warn(`limits of RAM and CPU are advisory on this node: ${limits.advisory}`);
  return limits;
}

async function open({ rootId, directory, environment, logger }: OpenLimitsOptions): Promise<ResourceLimits> {
  const files = new GroupFiles();
  const disk = diskUnder(directory);
  try {
    const hierarchy = await openHierarchy({
      files,
      own: readOwnGroups('self'),
      // The root's id, so that nodes of other roots on this machine have groups of their own.
      name: `drover-${rootId}`,
      isDelegated: environment[DELEGATION_VARIABLE] === 'delegated',
    });
    return typeof hierarchy === 'string'
      ? advisoryLimits(hierarchy, disk)
      : new ControlGroups(hierarchy, files, logger, disk);
  } catch (error) {
    return advisoryLimits(`control groups cannot be used: ${messageOf(error)}`, disk);
  }
}

interface HierarchyOptions extends Omit<Version2Options, 'own'> {
  readonly own: OwnGroups;
}

/** Opens the version that has the controllers; both may be mounted. A string: the reason why limits cannot hold. */
export async function openHierarchy(options: HierarchyOptions): Promise<Hierarchy | string> {
  const { files, own, name, isDelegated } = options;
  if (own.version1.has('memory') || own.version1.has('cpu')) return openVersion1(files, own.version1, name);
  if (own.version2 === undefined) return 'this machine has no control groups that Drover could see';
  return openVersion2({ files, own: own.version2, name, isDelegated });
}
