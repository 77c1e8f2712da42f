/**
 * Random histories of commits, pulls, resets, writes, restarts and failovers on one to three masters with a clone each,
 * against a model: the newest commit that any of them had, and what callers changed since.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { configurationRecordSchema } from '../../../src/model/configuration.js';
import { cloneRecordSchema } from '../../../src/model/git-standing.js';
import { templateRecordSchema } from '../../../src/model/template.js';
import { PREFIX } from '../../../src/store/keys.js';
import { Mirror } from '../../../src/store/mirror.js';
import { GitRepository, HAS_GIT } from '../../support/git-repository.js';
import { SeveralWorld, type TestMaster } from '../../support/masters/several-world.js';
import { until } from '../../support/until.js';

const NODES = ['a', 'b', 'c'];
const NAMES = ['x', 'y', 'z'];
/** A step starts some thirty processes of git, which take seconds on a busy machine. */
const STEPS = 8;

interface Content {
  readonly ramMB: number;
  readonly cpu: number;
}
/** The contents by name; absent: there is no such configuration. */
type Contents = Readonly<Record<string, Content>>;

interface Commit {
  readonly hash: string;
  readonly files: Contents;
  readonly map: number;
}

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
  readonly world = new SeveralWorld();
  readonly #next: (below: number) => number;
  readonly #nodes: readonly string[];
  readonly #commits: Commit[] = [];
  readonly #heads = new Map<string, number>();
  /** What is in force by the model. */
  #model: Contents = {};
  /** The newest commit that a running master had. */
  #top = 0;
  /** Each content that the records showed in this step. */
  readonly #shown: string[] = [];
  readonly #shownDigests: (string | undefined)[] = [];
  /** The digests of the template, by the number in its file. */
  readonly #digests = new Map<number, string>();
  readonly #records = this.#mirrorOf('configurations', (value) => configurationRecordSchema.parse(value));
  readonly #clones = this.#mirrorOf('clones', (value) => cloneRecordSchema.parse(value));
  readonly #templates = this.#mirrorOf('templates', (value) => templateRecordSchema.parse(value));

  constructor(seed: number) {
    this.#next = numbersFrom(seed);
    this.#nodes = NODES.slice(0, 1 + (seed % NODES.length));
  }

  async run(): Promise<void> {
    this.repository.write('.gitignore', 'data/\n');
    const one = { ramMB: 1, cpu: 1 };
    this.#commit({ x: one, y: one }, 0);
    await this.#records.start();
    await this.#templates.start();
    await this.#clones.start();
    this.#records.onChange((name, after) => this.#shown.push(textOf(name, after?.value.configuration)));
    this.#templates.onChange((_name, after) => this.#shownDigests.push(after?.value.digest));
    for (const node of this.#nodes) {
      this.repository.git('clone', '-q', this.repository.top, join(this.world.root, node));
      this.#heads.set(node, 0);
      await this.world.start(node);
    }
    this.#model = this.#commits[0]?.files ?? {};
    await this.#settled('start');
    for (let step = 0; step < STEPS; step++) await this.#step();
  }

  async stop(): Promise<void> {
    await this.#records.stop();
    await this.#templates.stop();
    await this.#clones.stop();
    await this.world.close();
    this.repository.remove();
  }

  async #step(): Promise<void> {
    const before = { model: this.#model, map: this.#commits[this.#top]?.map };
    this.#shown.length = 0;
    this.#shownDigests.length = 0;
    const did = await this.#act();
    await this.#settled(did);
    // Nothing else is ever in force, not even for a moment.
    const both = [before.model, this.#model];
    const allowed = both.flatMap((model) => NAMES.map((name) => textOf(name, model[name])));
    expect(allowed, did).toEqual(expect.arrayContaining(this.#shown));
    const digests = [before.map, this.#commits[this.#top]?.map].map((map) => this.#digests.get(map ?? -1));
    expect(digests, did).toEqual(expect.arrayContaining(this.#shownDigests));
    for (const node of this.#nodes) expect(this.#git(node, 'status', '--porcelain'), did).toBe('');
    for (const { masters } of this.#up()) {
      expect(masters.files.ownErrors(), did).toEqual([]);
      expect(masters.templates.conflicts(), did).toEqual([]);
    }
  }

  async #act(): Promise<string> {
    const node = this.#oneOf(this.#nodes);
    const name = this.#oneOf(Object.keys(this.#commits[this.#top]?.files ?? {}));
    const kind = this.#next(18);
    if (kind < 3) return this.#change();
    if (kind < 7) return this.#go(node);
    if (kind === 7) {
      this.#git(node, 'checkout', '-q', '.');
      return `checkout of ${node}`;
    }
    if (kind === 8) return this.#restart(node);
    if (kind === 9) return this.#failOver(node);
    const { files } = this.#leader().masters;
    if (kind === 10) {
      await files.reset(name, undefined).catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'DRV_OVERRIDE_UNKNOWN' });
      });
      this.#model = this.#with(name, this.#commits[this.#top]?.files[name]);
      return `reset of ${name}`;
    }
    if (kind === 11) {
      const write = this.#leader().templates.local.createFile('g', 't', 'more', Readable.from(['x']));
      await expect(write).rejects.toMatchObject({ code: 'DRV_TEMPLATE_OWNED' });
      return 'write of a template';
    }
    if (kind < 14 && this.#model[name] !== undefined) {
      await files.remove(name);
      this.#model = without(this.#model, name);
      return `removal of ${name}`;
    }
    if (kind < 16) return this.#replace(node);
    const content = this.#content();
    await files.put(name, { command: 'run', ...content });
    this.#model = this.#with(name, content);
    return `put of ${name}`;
  }

  /** A commit that changes a file, makes one or removes it, or goes back to the content before the last one. */
  #change(): string {
    const [last, former] = [this.#commits.at(-1), this.#commits.at(-2)];
    if (last === undefined) return 'nothing';
    const name = this.#oneOf(NAMES);
    if (former !== undefined && this.#next(4) === 0) this.#commit(former.files, former.map);
    else if (name !== 'z') this.#commit({ ...last.files, [name]: this.#content() }, last.map);
    else if (last.files.z !== undefined) this.#commit(without(last.files, 'z'), last.map + 1);
    else this.#commit({ ...last.files, z: this.#content() }, last.map + 1);
    return 'commit';
  }

  #go(node: string): string {
    const head = this.#heads.get(node) ?? 0;
    // Some go back.
    const from = this.#next(4) === 0 ? 0 : head;
    const to = from + this.#next(this.#commits.length - from);
    this.#git(node, 'fetch', '-q');
    this.#git(node, 'reset', '-q', '--hard', this.#commits[to]?.hash ?? '');
    this.#heads.set(node, to);
    if (this.world.masters.get(node)?.isUp === true) this.#take(to);
    return `${node} goes from ${head} to ${to}`;
  }

  /** A new master takes the place of one: it knows nothing, and its clone may be at an older commit. */
  async #replace(node: string): Promise<string> {
    const master = this.world.masters.get(node);
    if (master?.isUp === true) await master.stop();
    rmSync(join(this.world.root, node, 'data'), { recursive: true, force: true });
    const went = this.#go(node);
    return `${went}, as a new master, ${await this.#restart(node)}`;
  }

  async #restart(node: string): Promise<string> {
    const master = this.world.masters.get(node);
    if (master?.isUp === true) await master.stop();
    await this.world.start(node);
    this.#take(this.#heads.get(node) ?? 0);
    return `restart of ${node}`;
  }

  /** The leader ends, nobody leads while a clone moves, and another master leads; a single one comes back. */
  async #failOver(node: string): Promise<string> {
    const former = this.world.leaderId ?? '';
    await this.#leader().stop();
    this.world.elect(null);
    const went = this.#go(node);
    if (this.#up().length === 0) return `${went}, ${await this.#restart(former)}`;
    const next = this.#oneOf(this.#nodes.filter((one) => this.world.masters.get(one)?.isUp === true));
    this.world.elect(next);
    return `${went}, while ${next} takes over from ${former}`;
  }

  /** The files of the newest commit win where they have changed since. */
  #take(to: number): void {
    if (to <= this.#top) return;
    const [from, now] = [this.#commits[this.#top]?.files, this.#commits[to]?.files];
    this.#top = to;
    for (const name of NAMES) {
      const [was, is, inForce] = [from?.[name], now?.[name], this.#model[name]];
      if (was === undefined || is === undefined || inForce === undefined) {
        // A removal by a caller lasts until the file changes.
        const isRemoved = inForce === undefined && was !== undefined && isDeepStrictEqual(was, is);
        this.#model = this.#with(name, isRemoved ? undefined : is);
        continue;
      }
      const content = {
        ramMB: was.ramMB === is.ramMB ? inForce.ramMB : is.ramMB,
        cpu: was.cpu === is.cpu ? inForce.cpu : is.cpu,
      };
      this.#model = this.#with(name, content);
    }
  }

  async #settled(did: string): Promise<void> {
    const looks = [...this.world.masters].map(async ([node, { isUp, masters, templates }]) => {
      if (!isUp) return;
      await masters.files.reloadHere(false);
      await masters.templates.follow();
      const digest = await templates.library.look('g', 't');
      this.#digests.set(this.#commits[this.#heads.get(node) ?? 0]?.map ?? -1, digest ?? '');
    });
    await Promise.all(looks);
    await until(() => {
      const shown = new Map(
        [...this.#records.entries()].map(([name, { value }]) => [name, value.configuration]),
      );
      expect(
        NAMES.map((name) => textOf(name, shown.get(name))),
        did,
      ).toEqual(NAMES.map((name) => textOf(name, this.#model[name])));
      const digest = this.#digests.get(this.#commits[this.#top]?.map ?? -1);
      expect(this.#templates.get('g/t')?.value.digest, did).toBe(digest);
      const newest = ['configurations', 'templates'].map((kind) => this.#clones.get(kind)?.value.commit);
      expect([...new Set(newest)], did).toEqual([this.#commits[this.#top]?.hash]);
    });
    for (const { templates } of this.#up())
      expect(await templates.sources.digest('g', 't', 'local'), did).toBe(
        this.#templates.get('g/t')?.value.digest,
      );
  }

  #commit(files: Contents, map: number): void {
    for (const name of NAMES) {
      const file = `configurations/${name}.json`;
      if (files[name] !== undefined)
        this.repository.write(file, JSON.stringify({ command: 'run', ...files[name] }, null, 2));
      else this.repository.git('rm', '-q', '--ignore-unmatch', file);
    }
    this.repository.write('templates/g/t/map', `${map}`);
    this.repository.git('add', '-A');
    this.repository.git('commit', '-q', '--allow-empty', '-m', 'a change');
    this.#commits.push({ hash: this.repository.git('rev-parse', 'HEAD'), files, map });
  }

  #with(name: string, content: Content | undefined): Contents {
    return content === undefined ? without(this.#model, name) : { ...this.#model, [name]: content };
  }

  #up(): TestMaster[] {
    return [...this.world.masters.values()].filter(({ isUp }) => isUp);
  }

  #leader(): TestMaster {
    return this.world.masters.get(this.world.leaderId ?? '') ?? expect.fail('nobody leads');
  }

  #content(): Content {
    return { ramMB: 1 + this.#next(3), cpu: 1 + this.#next(3) };
  }

  #oneOf(some: readonly string[]): string {
    return some[this.#next(some.length)] ?? '';
  }

  #mirrorOf<Value>(prefix: keyof typeof PREFIX, decode: (value: unknown) => Value): Mirror<Value> {
    return new Mirror({
      store: this.world.store,
      prefix: PREFIX[prefix],
      decode,
      onSetAside: (id) => {
        throw new Error(id);
      },
    });
  }

  #git(node: string, ...words: readonly string[]): string {
    return this.repository.gitIn(join(this.world.root, node), ...words);
  }
}

function without(contents: Contents, name: string): Contents {
  return Object.fromEntries(Object.entries(contents).filter(([one]) => one !== name));
}

function textOf(name: string, content: Content | undefined): string {
  return `${name} ${content?.ramMB} ${content?.cpu}`;
}

describe.skipIf(!HAS_GIT)('random histories of one to three clones', () => {
  // By default those in which clones move on and back, masters are replaced, and another one takes over.
  const seeds = process.env.DROVER_CLONE_SEEDS?.split(',').map(Number) ?? [5, 10, 14, 18];
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
