/**
 * Runs the shell lines of a job of `manifests/ci` as GitHub and GitLab do. It leaves out the lines that install or
 * check out.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parse } from 'yaml';
import { z } from 'zod';
import { REPOSITORY } from '../repository-root.js';

const variables = z.record(z.string(), z.string()).default({});
const githubSchema = z.object({
  env: variables,
  jobs: z.record(
    z.string(),
    z.object({
      steps: z.array(
        z.object({
          name: z.string().optional(),
          run: z.string().optional(),
          if: z.string().optional(),
          env: variables,
        }),
      ),
    }),
  ),
});
const gitlabSchema = z.record(z.string(), z.object({ script: z.array(z.string()).default([]) }));

interface JobOptions {
  readonly directory: string;
  readonly environment: NodeJS.ProcessEnv;
}

export interface JobRun {
  readonly isGood: boolean;
  readonly output: string;
}

/** Runs a job. `values`: the values of the `${{ }}` expressions, by their text; all others are empty. */
export async function runGithubJob(
  job: string,
  values: Readonly<Record<string, string>>,
  { directory, environment }: JobOptions,
): Promise<JobRun> {
  const workflow = githubSchema.parse(read('github.yml'));
  const told = join(directory, 'github-env');
  writeFileSync(told, '');
  const resolved = (of: Readonly<Record<string, string>>): NodeJS.ProcessEnv =>
    Object.fromEntries(
      Object.entries(of).map(([name, value]) => [
        name,
        value.replaceAll(/\$\{\{ *(.*?) *\}\}/g, (_all, expression: string) => values[expression] ?? ''),
      ]),
    );
  let isGood = true;
  let output = '';
  for (const step of workflow.jobs[job]?.steps ?? []) {
    const isDue = isGood ? step.if === undefined : step.if === 'failure()';
    if (step.run === undefined || step.name === 'Install' || !isDue) continue;
    const said = readFileSync(told, 'utf8').split('\n').filter(Boolean);
    const run = await shell(step.run, {
      directory,
      environment: {
        ...environment,
        ...resolved(workflow.env),
        ...Object.fromEntries(said.map((line) => line.split(/=(.*)/s))),
        ...resolved(step.env),
        GITHUB_ENV: told,
      },
    });
    isGood &&= run.isGood;
    output += run.output;
  }
  return { isGood, output };
}

export async function runGitlabJob(job: string, options: JobOptions): Promise<JobRun> {
  const script = gitlabSchema.parse(read('gitlab.yml'))[job]?.script ?? [];
  return await shell(script.join('\n'), options);
}

function read(name: string): unknown {
  return parse(readFileSync(join(REPOSITORY, 'manifests/ci', name), 'utf8'));
}

async function shell(script: string, { directory, environment }: JobOptions): Promise<JobRun> {
  const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
    cwd: directory,
    env: environment,
  });
  child.stdin.end();
  const closed = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { isGood: child.exitCode === 0, output: stdout + stderr };
}
