/** The real templates of a master in a temporary directory, without a watch; syncs are only recorded. */

import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../../src/loop/clock.js';
import { DroverError } from '../../../src/model/errors.js';
import type { ClusterSyncReport } from '../../../src/model/template.js';
import type { Writes } from '../../../src/operations/writes.js';
import { TemplateLibrary } from '../../../src/templates/library/library.js';
import { LocalTemplates } from '../../../src/templates/library/local-templates.js';
import { matcherOf } from '../../../src/templates/sync/pattern.js';
import type { TreeLimits } from '../../../src/templates/tree/tree.js';
import { quietLogger } from './template-trees.js';

interface TemplateWorldOptions {
  readonly clock: Clock;
  readonly maxUploadMB: number;
  readonly archiveLimits?: Partial<TreeLimits>;
}

export class TemplateWorld {
  /** Made by `start`, removed by `stop`. */
  readonly root = join(tmpdir(), `drover-templates-${randomBytes(6).toString('hex')}`);
  readonly directory = join(this.root, 'templates');
  readonly library: TemplateLibrary;
  readonly local: LocalTemplates;
  /** The questions to storages and nodes. */
  readonly synced: string[] = [];
  /** The report of the latest sync to the cluster. */
  latest: ClusterSyncReport | undefined;
  /** Awaited by every download from a storage, so that a test can hold a download in the middle. */
  hold: () => Promise<unknown> = async () => {};

  constructor({ clock, ...options }: TemplateWorldOptions) {
    const { directory, root } = this;
    const logger = quietLogger;
    this.library = new TemplateLibrary(directory, clock, logger);
    const uploads = join(root, 'uploads');
    this.local = new LocalTemplates({ directory, uploads, library: this.library, logger, ...options });
  }

  async start(): Promise<void> {
    mkdirSync(this.directory, { recursive: true });
    await this.local.start();
  }

  async stop(): Promise<void> {
    await this.local.stop();
    await this.library.stop();
    rmSync(this.root, { recursive: true, force: true });
  }

  readonly sync: Writes['templateSync'] = {
    latestSync: () => this.latest,
    fromStorage: async (group, name, storage) => {
      if (storage !== 'depot')
        throw new DroverError(
          'DRV_STORAGE_UNKNOWN',
          `storage ${storage} is not registered; registered are: depot`,
        );
      await this.hold();
      this.synced.push(`${group}/${name} from ${storage}`);
      return { files: 2, bytes: 10, digest: 'd'.repeat(64) };
    },
    toCluster: async (pattern) => {
      const isMeant = matcherOf(pattern);
      this.synced.push(pattern);
      const all = [...this.local.library.groups()].flatMap(([group, names]) =>
        names.map((name) => ({ group, name })),
      );
      return {
        templates: all.filter(isMeant).map(({ group, name }) => `${group}/${name}`),
        nodes: ['n1'],
      };
    },
  };
}
