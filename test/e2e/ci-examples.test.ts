/** The workflows of `manifests/ci`, their shell lines over a real daemon and a forge that knows comments only. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Forge, OWN } from '../support/ci/forge.js';
import { type JobRun, runGithubJob, runGitlabJob } from '../support/ci/pipeline.js';
import { CLIENT } from '../support/client/client-program.js';
import { TemporaryHome } from '../support/client/temporary-home.js';
import type { DaemonWorld } from '../support/daemon/daemon.js';
import { shareDaemon } from '../support/daemon/shared-daemon.js';
import { REPOSITORY } from '../support/repository-root.js';

const MARKER = '<!-- drover-plan -->';
const KINDS = ['github', 'gitlab'] as const;

let world: DaemonWorld;
let home: TemporaryHome;
let forge: Forge;
shareDaemon((shared) => {
  world = shared;
});
beforeEach(async () => {
  home = new TemporaryHome();
  home.write('bin/drover', `#!/bin/sh\nexec '${process.execPath}' '${CLIENT}' "$@"\n`, 0o755);
  for (const place of ['.github/workflows', 'ci']) {
    mkdirSync(join(home.path, place), { recursive: true });
    copyFileSync(join(REPOSITORY, 'manifests/ci/comment.mjs'), join(home.path, place, 'comment.mjs'));
  }
  forge = await Forge.start();
});
afterEach(async () => {
  await forge.stop();
  home.remove();
});

async function keyOf(scope: 'PLAN' | 'CONFIGURE'): Promise<string> {
  const label = `ci-${scope}-${crypto.randomUUID().slice(0, 8)}`;
  const { text } = await world.api.send('POST', '/keys', { label, scope });
  return z.object({ token: z.string() }).parse(JSON.parse(text)).token;
}

type Keys = Readonly<Record<'DROVER_PLAN_KEY' | 'DROVER_APPLY_KEY', string>>;

/** Runs a job of either. `fingerprint`: a person has named it. */
class Pipelines {
  readonly #kind: (typeof KINDS)[number];
  readonly #keys: Keys;

  private constructor(kind: (typeof KINDS)[number], keys: Keys) {
    this.#kind = kind;
    this.#keys = keys;
  }

  static async create(kind: (typeof KINDS)[number]): Promise<Pipelines> {
    return new Pipelines(kind, {
      DROVER_PLAN_KEY: await keyOf('PLAN'),
      DROVER_APPLY_KEY: await keyOf('CONFIGURE'),
    });
  }

  run(job: 'plan' | 'apply', fingerprint = ''): Promise<JobRun> {
    const url = `http://127.0.0.1:${world.apiPort}`;
    const environment = {
      ...home.environment,
      PATH: `${home.path}/bin:${dirname(process.execPath)}:${process.env.PATH}`,
      ...forge.environment(this.#kind),
    };
    const directory = home.path;
    if (this.#kind === 'gitlab')
      return runGitlabJob(`drover-${job}`, {
        directory,
        environment: { ...environment, ...this.#keys, DROVER_URL: url, FINGERPRINT: fingerprint },
      });
    const values = {
      'vars.DROVER_URL': url,
      'secrets.DROVER_PLAN_KEY': this.#keys.DROVER_PLAN_KEY,
      'secrets.DROVER_APPLY_KEY': this.#keys.DROVER_APPLY_KEY,
      'github.token': 'secret',
      'github.event.number': '7',
      'inputs.fingerprint': fingerprint,
    };
    return runGithubJob(job, values, { directory, environment });
  }
}

function wants(minimumServiceCount: number): void {
  const lobby = { runtime: 'process', command: 'sleep 1000', ramMB: 50, cpu: 5, minimumServiceCount };
  home.write('configurations/lobby.json', JSON.stringify({ name: 'lobby', ...lobby }));
}

const has = (minimum: number): Promise<void> =>
  expect
    .poll(async () => (await world.api.send('GET', '/configurations/lobby')).text, { timeout: 120_000 })
    .toContain(`"minimumServiceCount":${minimum}`);

describe('the hook of git', () => {
  it('refuses a commit whose staged configurations have a field that is not known', () => {
    const git = (...words: string[]) =>
      spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], {
        cwd: home.path,
        env: { ...home.environment, PATH: `${home.path}/bin:${process.env.PATH}` },
        encoding: 'utf8',
      });
    git('init', '-q');
    copyFileSync(join(REPOSITORY, 'manifests/hooks/pre-commit'), join(home.path, '.git/hooks/pre-commit'));
    home.write('configurations/lobby.json', '{ "command": "run", "minServiceCount": 1 }');
    git('add', 'configurations');
    // Only what is staged counts.
    home.write('configurations/lobby.json', '{ "command": "run" }');
    const refused = git('commit', '-qm', 'a');
    // Git shows what a hook prints as its own errors.
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringContaining('minServiceCount: unknown field'),
    ]);
    git('add', 'configurations');
    expect(git('commit', '-qm', 'a')).toMatchObject({ status: 0 });
    // A part is judged with the files that extend it, in subdirectories, too.
    home.write('configurations/base/game.json', '{ "command": "run", "ramMB": 64 }');
    home.write('configurations/eu/arena.json', '{ "extends": "../base/game.json", "cpu": 5 }');
    git('add', 'configurations');
    expect(git('commit', '-qm', 'c')).toMatchObject({ status: 0 });
    home.write('configurations/base/game.json', '{ "command": "run", "ramMB": "much" }');
    git('add', 'configurations');
    expect(git('commit', '-qm', 'd')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/arena\.json.*ramMB/s),
    });
    git('reset', '-q', '--hard');
    git('rm', '-q', 'configurations/lobby.json');
    expect(git('commit', '-qm', 'b')).toMatchObject({ status: 0 });
  });
});

describe.each(KINDS)('the workflow for %s', (kind) => {
  it('keeps one comment, applies what it says, and nothing once the world has moved', async () => {
    const pipelines = await Pipelines.create(kind);
    for (let index = 0; index < 120; index++) forge.add('somebody', `${MARKER}\nFingerprint \`badbad\``);
    wants(1);
    expect(await pipelines.run('plan')).toEqual({ isGood: true, output: expect.any(String) });
    const [comment, ...others] = forge.comments.filter(({ author }) => author === OWN);
    expect(comment?.body).toContain('1 to create.');
    expect(others).toEqual([]);
    wants(2);
    expect(await pipelines.run('plan')).toMatchObject({ isGood: true });
    expect(comment?.body).toContain('create **2**');
    expect(forge.comments).toHaveLength(121);
    expect(await pipelines.run('apply')).toMatchObject({ isGood: true, output: 'lobby created\n' });
    await has(2);
    // A plan of another count, or of instances that still start, has another fingerprint.
    await world.untilOnline('lobby', 2);

    wants(3);
    expect(await pipelines.run('plan')).toMatchObject({ isGood: true });
    await world.api.send('PUT', '/configurations/lobby', {
      name: 'lobby',
      runtime: 'process',
      command: 'sleep 1000',
      minimumServiceCount: 1,
    });
    const refused = await pipelines.run('apply');
    expect(refused).toMatchObject({ isGood: false, output: expect.stringContaining('plan again') });
    const [, fingerprint] = /; fingerprint ([0-9a-f]+)/.exec(refused.output) ?? [];
    await has(1);
    expect(await pipelines.run('apply', fingerprint)).toMatchObject({ isGood: true });
    await has(3);
  });

  it('fails with a configuration that is not valid, and leaves the comment alone', async () => {
    const pipelines = await Pipelines.create(kind);
    home.write('configurations/lobby.json', '{ "name": "lobby", "command": 7 }');
    expect(await pipelines.run('plan')).toMatchObject({
      isGood: false,
      output: expect.stringContaining('command'),
    });
    expect(forge.comments).toEqual([]);
  });
});
