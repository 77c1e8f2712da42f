/** A fake of GitHub and GitLab: it serves the comments of one request, and says which request a commit came with. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { z } from 'zod';

interface ForgeComment {
  readonly id: number;
  readonly author: string;
  body: string;
}

/** The number of the only request. */
const NUMBER = 7;
/** The longest page: GitHub and GitLab list 100 comments at most. */
const PAGE = 100;
export const OWN = 'github-actions[bot]';
const GITHUB = '/repos/acme/fleet';
const GITLAB = '/projects/42';
const bodySchema = z.object({ body: z.string() });

export class Forge {
  readonly comments: ForgeComment[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
    });
  }

  static async start(): Promise<Forge> {
    const forge = new Forge();
    forge.#server.listen(0, '127.0.0.1');
    await once(forge.#server, 'listening');
    return forge;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  add(author: string, body: string): ForgeComment {
    const comment = { id: this.comments.length + 1, author, body };
    this.comments.push(comment);
    return comment;
  }

  /** The environment of a job of GitHub or GitLab. */
  environment(kind: 'github' | 'gitlab'): NodeJS.ProcessEnv {
    const { port } = this.#server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    return kind === 'github'
      ? { GITHUB_API_URL: url, GITHUB_REPOSITORY: 'acme/fleet', GITHUB_SHA: 'c0ffee' }
      : {
          GITLAB_CI: 'true',
          CI_API_V4_URL: url,
          CI_PROJECT_ID: '42',
          CI_MERGE_REQUEST_IID: String(NUMBER),
          CI_COMMIT_SHA: 'c0ffee',
          DROVER_COMMENT_TOKEN: 'secret',
        };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://forge');
    const { authorization, 'private-token': token } = request.headers;
    if (authorization !== 'Bearer secret' && token !== 'secret') {
      response.writeHead(401).end();
      return;
    }
    const isGitlab = token !== undefined;
    const list = isGitlab
      ? `${GITLAB}/merge_requests/${NUMBER}/notes`
      : `${GITHUB}/issues/${NUMBER}/comments`;
    const one = isGitlab ? `${list}/` : `${GITHUB}/issues/comments/`;
    const answers: Record<string, () => unknown> = {
      [`GET ${list}`]: () =>
        this.#page(Number(searchParams.get('page') ?? 1)).map((comment) => shown(comment)),
      'GET /user': () => ({ id: OWN }),
      [`GET ${GITHUB}/commits/c0ffee/pulls`]: () => [{ number: NUMBER }],
      [`GET ${GITLAB}/repository/commits/c0ffee/merge_requests`]: () => [{ iid: NUMBER }],
    };
    const key = `${request.method} ${pathname}`;
    const edited = this.comments.find(({ id }) => key === `${isGitlab ? 'PUT' : 'PATCH'} ${one}${id}`);
    let answer = answers[key]?.();
    if (key === `POST ${list}`) answer = shown(this.add(OWN, bodySchema.parse(await json(request)).body));
    if (edited !== undefined) {
      edited.body = bodySchema.parse(await json(request)).body;
      answer = shown(edited);
    }
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { message: `${key} is unknown` }));
  }

  #page(page: number): ForgeComment[] {
    return this.comments.slice((page - 1) * PAGE, page * PAGE);
  }
}

function shown({ id, author, body }: ForgeComment): object {
  return { id, body, user: { login: author }, author: { id: author } };
}
