#!/usr/bin/env node
/**
 * Keeps the plan of a change as one comment of its pull request (GitHub) or merge request (GitLab), for the workflows beside
 * this file. It needs Node and nothing else.
 *
 *   comment.mjs put FILE      makes the comment say what the file says, or writes it
 *   comment.mjs fingerprint   prints the fingerprint of the plan in the comment of what was merged
 *
 * The comment is found by the first line of `drover plan -o markdown`. Those of other authors are passed over: anybody may
 * write that line.
 */
import { readFileSync } from 'node:fs';

const MARKER = '<!-- drover-plan -->';
const MOST_PAGES = 100;
const { env } = process;

async function call(method, path, body) {
  const { url, headers } = host();
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return await response.json();
}

function host() {
  return env.GITLAB_CI === 'true'
    ? { url: required('CI_API_V4_URL'), headers: { 'private-token': required('DROVER_COMMENT_TOKEN') } }
    : { url: required('GITHUB_API_URL'), headers: { authorization: `Bearer ${required('GITHUB_TOKEN')}` } };
}

const GITHUB = {
  comments: (number) => `/repos/${required('GITHUB_REPOSITORY')}/issues/${number}/comments`,
  comment: (_number, id) => `/repos/${required('GITHUB_REPOSITORY')}/issues/comments/${id}`,
  merged: () => `/repos/${required('GITHUB_REPOSITORY')}/commits/${required('GITHUB_SHA')}/pulls`,
  numberOf: ({ number }) => number,
  editMethod: 'PATCH',
  number: () => required('PULL_REQUEST'),
  // The author of what GITHUB_TOKEN writes. A token of another account needs its name here.
  isOwn: async () => {
    const author = env.DROVER_COMMENT_AUTHOR ?? 'github-actions[bot]';
    return ({ user }) => user?.login === author;
  },
};

const GITLAB = {
  comments: (number) => `/projects/${required('CI_PROJECT_ID')}/merge_requests/${number}/notes`,
  comment: (number, id) => `/projects/${required('CI_PROJECT_ID')}/merge_requests/${number}/notes/${id}`,
  merged: () =>
    `/projects/${required('CI_PROJECT_ID')}/repository/commits/${required('CI_COMMIT_SHA')}/merge_requests`,
  numberOf: ({ iid }) => iid,
  editMethod: 'PUT',
  number: () => required('CI_MERGE_REQUEST_IID'),
  isOwn: async () => {
    const { id } = await call('GET', '/user');
    return ({ author }) => author?.id === id;
  },
};

async function findComment(at, number) {
  const isOwn = await at.isOwn();
  for (let page = 1; page <= MOST_PAGES; page++) {
    const comments = await call('GET', `${at.comments(number)}?per_page=100&page=${page}`);
    const found = comments.find((one) => one.body?.startsWith(MARKER) && isOwn(one));
    if (found !== undefined || comments.length === 0) return found;
  }
  return undefined;
}

async function put(at, file) {
  const body = readFileSync(file, 'utf8');
  if (!body.startsWith(MARKER)) throw new Error(`${file} is no output of "drover plan -o markdown"`);
  const number = at.number();
  const found = await findComment(at, number);
  if (found === undefined) await call('POST', at.comments(number), { body });
  else await call(at.editMethod, at.comment(number, found.id), { body });
}

async function fingerprint(at) {
  const [merged] = await call('GET', at.merged());
  if (merged === undefined)
    throw new Error('this commit came with no merge: name the fingerprint of a plan yourself');
  const found = await findComment(at, at.numberOf(merged));
  // It is in the last line; what stands above is of the configurations.
  const [, value] = /Fingerprint `([0-9a-f]+)`\s*$/.exec(found?.body ?? '') ?? [];
  if (value === undefined) throw new Error(`number ${at.numberOf(merged)} has no comment with a plan`);
  process.stdout.write(`${value}\n`);
}

function required(name) {
  const value = env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
}

const [command, file] = process.argv.slice(2);
const at = env.GITLAB_CI === 'true' ? GITLAB : GITHUB;
try {
  if (command === 'put' && file !== undefined) await put(at, file);
  else if (command === 'fingerprint') await fingerprint(at);
  else throw new Error('usage: comment.mjs put FILE | comment.mjs fingerprint');
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
