/** Random histories of commits, pulls, resets, writes and restarts on three clones, against a model of the newest commit. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configurationRecordSchema } from '../../../src/model/configuration.js';
import { PREFIX } from '../../../src/store/keys.js';
import { Mirror } from '../../../src/store/mirror.js';
import { ViewWorld } from '../../support/control-plane/view-world.js';
import { GitRepository, HAS_GIT } from '../../support/git-repository.js';
import { until } from '../../support/until.js';

const NODES = ['a', 'b', 'c'];
const NAMES = ['x', 'y'];
const STEPS = 14;

interface Content {
  readonly ramMB: number;
  readonly cpu: number;
}
type Commit = Readonly<Record<string, Content>>;

/** Small numbers from a seed, so that a failure can be run again. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

class History {
  readonly repository = new GitRepository();
  readonly world = new ViewWorld();
  readonly #next: (below: number) => number;
  readonly #commits: { readonly hash: string; readonly content: Commit }[] = [];
  readonly #heads = new Map<string, number>();
  /** What is in force by the model. */
  #model: Commit = {};
  #top = 0;
  /** Each content that the records showed in this step. */
  readonly #shown: string[] = [];
  readonly #records = new Mirror({
    store: this.world.store,
    prefix: PREFIX.configurations,
    decode: (value) => configurationRecordSchema.parse(value),
    onSetAside: (id) => {
      throw new Error(id);
    },
  });

  constructor(seed: number) {
    this.#next = numbersFrom(seed);
  }

  async run(): Promise<void> {
    this.repository.write('.gitignore', 'data/\n');
    this.#commit({ x: { ramMB: 1, cpu: 1 }, y: { ramMB: 1, cpu: 1 } });
    await this.#records.start();
    this.#records.onChange((name, after) => this.#shown.push(textOf(name, after?.value.configuration)));
    for (const node of NODES) {
      this.repository.git('clone', '-q', this.repository.top, join(this.world.root, node));
      this.#heads.set(node, 0);
      await this.world.start(node);
    }
    this.#model = this.#commits[0]?.content ?? {};
    await this.#settled('start');
    for (let step = 0; step < STEPS; step++) await this.#step();
  }

  async stop(): Promise<void> {
    await this.#records.stop();
    await this.world.close();
    this.repository.remove();
  }

  async #step(): Promise<void> {
    const before = this.#model;
    this.#shown.length = 0;
    const did = await this.#act();
    await this.#settled(did);
    // Nothing else is ever in force, not even for a moment.
    const allowed = [...NAMES.map((name) => textOf(name, before[name])), ...this.#texts()];
    expect(allowed, did).toEqual(expect.arrayContaining(this.#shown));
    for (const node of NODES) {
      expect(this.#git(node, 'status', '--porcelain'), did).toBe('');
      expect(this.world.masterOf(node).conflicts(), did).toEqual([]);
    }
  }

  async #act(): Promise<string> {
    const node = NODES[this.#next(NODES.length)] ?? '';
    const name = NAMES[this.#next(NAMES.length)] ?? '';
    const kind = this.#next(10);
    if (kind < 3) {
      const before = this.#commits.at(-1)?.content ?? {};
      this.#commit({ ...before, [name]: { ramMB: 1 + this.#next(3), cpu: 1 + this.#next(3) } });
      return 'commit';
    }
    if (kind < 7) {
      const head = this.#heads.get(node) ?? 0;
      const to = head + this.#next(this.#commits.length - head);
      this.#git(node, 'fetch', '-q');
      this.#git(node, 'reset', '-q', '--hard', this.#commits[to]?.hash ?? '');
      this.#heads.set(node, to);
      this.#take(to);
      return `${node} goes from ${head} to ${to}`;
    }
    if (kind === 7) {
      this.#git(node, 'checkout', '-q', '.');
      return `checkout of ${node}`;
    }
    if (kind === 8) {
      await this.world.masterOf(node).stop();
      await this.world.start(node);
      return `restart of ${node}`;
    }
    const content = { ramMB: 1 + this.#next(3), cpu: 1 + this.#next(3) };
    await this.world.masterOf(node).files.put(name, { command: 'run', ...content });
    this.#model = { ...this.#model, [name]: content };
    return `put of ${name}`;
  }

  /** The files of the newest commit win where they have changed since. */
  #take(to: number): void {
    if (to <= this.#top) return;
    const [from, now] = [this.#commits[this.#top]?.content, this.#commits[to]?.content];
    for (const name of NAMES) {
      const [was, is, inForce] = [from?.[name], now?.[name], this.#model[name]];
      if (was === undefined || is === undefined || inForce === undefined) continue;
      const content = {
        ramMB: was.ramMB === is.ramMB ? inForce.ramMB : is.ramMB,
        cpu: was.cpu === is.cpu ? inForce.cpu : is.cpu,
      };
      this.#model = { ...this.#model, [name]: content };
    }
    this.#top = to;
  }

  async #settled(did: string): Promise<void> {
    for (const node of NODES) await this.world.masterOf(node).files.reload();
    await until(() =>
      expect(
        [...this.#records.entries()].map(([name, { value }]) => textOf(name, value.configuration)),
        did,
      ).toEqual(this.#texts()),
    );
  }

  #texts(): string[] {
    return NAMES.map((name) => textOf(name, this.#model[name]));
  }

  #commit(content: Commit): void {
    for (const [name, fields] of Object.entries(content))
      this.repository.write(
        `configurations/${name}.json`,
        JSON.stringify({ command: 'run', ...fields }, null, 2),
      );
    this.repository.git('add', '-A');
    this.repository.git('commit', '-q', '--allow-empty', '-m', 'a change');
    this.#commits.push({ hash: this.repository.git('rev-parse', 'HEAD'), content });
  }

  #git(node: string, ...words: readonly string[]): string {
    return this.repository.gitIn(join(this.world.root, node), ...words);
  }
}

function textOf(name: string, content: Content | undefined): string {
  return `${name} ${content?.ramMB} ${content?.cpu}`;
}

describe.skipIf(!HAS_GIT)('random histories of three clones', () => {
  const seeds = process.env.DROVER_CLONE_SEEDS?.split(',').map(Number) ?? [1, 2, 3];
  it.each(seeds)(
    'keep the newest commit in force, with what callers changed since (seed %i)',
    async (seed) => {
      const history = new History(seed);
      try {
        await history.run();
      } finally {
        await history.stop();
      }
    },
  );
});
