/** Who may call what: every registered route against every scope. A new route fails here until it stands in the table. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KEY_SCOPES } from '../../../src/model/access/key-scopes.js';
import { ApiWorld, instanceRecord } from '../../support/api/api-world.js';

/** Least scope, route, and what a key that is restricted to configurations reaches of it (`-`: nothing). */
const TABLE = `
open GET /metrics filtered
open GET /openapi.json -
open GET /ping -
open POST /sessions/redeem -
READ GET /audit -
READ GET /cluster/configurations filtered
READ GET /cluster/left-directories filtered
READ GET /cluster/nodes filtered
READ GET /cluster/nodes/:id filtered
READ GET /cluster/nodes/:id/why -
READ GET /cluster/removed-configurations filtered
READ GET /cluster/status -
READ GET /cluster/tokens -
READ GET /configuration-files filtered
READ GET /configuration-files/commits/:commit filtered
READ GET /configuration-files/directory filtered
READ GET /configuration-files/errors filtered
READ GET /configuration-files/warnings filtered
READ GET /configuration-overrides filtered
READ GET /configurations filtered
READ GET /configurations/:name configuration
READ GET /configurations/:name/broken-file configuration
READ GET /configurations/:name/diff configuration
READ GET /configurations/:name/file configuration
READ GET /configurations/:name/history configuration
READ GET /configurations/:name/history/diff configuration
READ GET /configurations/:name/why configuration
READ GET /discovery/addresses/:name configuration
READ GET /discovery/haproxy filtered
READ GET /discovery/prometheus filtered
READ GET /discovery/traefik filtered
READ GET /events filtered
READ GET /exits filtered
READ GET /extensions -
READ GET /extensions/commands -
READ GET /instances filtered
READ GET /instances/:id instance
READ GET /instances/:id/details instance
READ GET /instances/:id/live-log instance
READ GET /instances/:id/logs instance
READ GET /instances/:id/logs/search instance
READ GET /instances/:id/runs instance
READ GET /instances/:id/usage instance
READ GET /instances/:id/why instance
READ GET /keys -
READ GET /node -
READ GET /node/config -
READ GET /rollouts filtered
READ GET /rollouts/:name configuration
READ GET /schedules filtered
READ GET /schemas/configuration.json filtered
READ GET /secrets -
READ GET /sessions filtered
READ GET /templates -
READ GET /templates/:group/:name -
READ GET /templates/:group/:name/files -
READ GET /templates/:group/:name/files/* -
READ GET /templates/:group/:name/users -
READ GET /templates/sync -
READ GET /usage filtered
READ GET /watch filtered
READ GET /webhooks -
READ GET /whoami filtered
READ POST /sessions filtered
READ POST /sessions/codes filtered
READ DELETE /sessions/:id filtered
READ POST /templates/:group/:name/export -
PLAN POST /configurations/:name/check new-configuration
PLAN POST /plan filtered
OPERATE GET /instances/:id/attach instance
OPERATE POST /cluster/left-directories/:id/adopt filtered
OPERATE POST /instances filtered
OPERATE DELETE /configurations/:name/freeze configuration
OPERATE DELETE /instances/:id instance
OPERATE PATCH /instances/:id/lifecycle bad-instance
OPERATE POST /instances/:id/command instance
OPERATE POST /instances/:id/execute instance
OPERATE POST /instances/:id/signal instance
OPERATE POST /instances/:id/stop instance
OPERATE POST /instances/:id/update instance
OPERATE PUT /instances/:id/state instance
OPERATE POST /configurations/:name/restart configuration
OPERATE POST /configurations/:name/freeze configuration
OPERATE POST /configurations/:name/schedules/:schedule/:action configuration
OPERATE POST /configurations/:name/rollback configuration
OPERATE POST /configurations/:name/run configuration
OPERATE POST /rollouts/:name/pause configuration
OPERATE POST /rollouts/:name/promote configuration
OPERATE POST /rollouts/:name/resume configuration
OPERATE POST /rollouts/:name/retry configuration
OPERATE POST /webhooks/:name/test -
ALL DELETE /cluster/nodes/:id -
ALL DELETE /cluster/nodes/:id/cordon -
ALL DELETE /cluster/tokens/:id -
CONFIGURE DELETE /configurations/:name configuration
ALL DELETE /keys/:label -
CONFIGURE DELETE /templates/:group/:name/files/* -
ALL GET /commands -
ALL GET /commands/completion -
ALL GET /console -
CONFIGURE PATCH /templates/:group/:name/files/* -
ALL POST /cluster/nodes/:id -
ALL POST /cluster/tokens -
ALL POST /commands/execute -
CONFIGURE POST /configuration-files/reload -
CONFIGURE POST /configurations/:name/rollback/file configuration
CONFIGURE POST /configurations/:name/reset new-configuration
CONFIGURE POST /configurations/batch filtered
ALL POST /extensions/commands/:command -
ALL POST /keys -
SECRETS PUT /secrets/:name -
SECRETS DELETE /secrets/:name -
ALL POST /node/reload -
ALL POST /node/stop -
CONFIGURE POST /templates/:group/:name/files/* -
CONFIGURE POST /templates/:group/:name/import -
CONFIGURE POST /templates/:group/:name/sync -
CONFIGURE POST /templates/sync -
ALL PUT /cluster/nodes/:id/cordon -
ALL PUT /cluster/nodes/:id/drain -
CONFIGURE PUT /configurations/:name new-configuration
`
  .trim()
  .split('\n');

let world: ApiWorld;

beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  await world.addConfiguration('hello');
  await world.addConfiguration('other');
  await world.addNode('n1');
});
afterEach(() => world.stop());

interface Row {
  readonly method: string;
  readonly path: string;
  readonly least: string;
  readonly reach: string;
}

function registered(): Row[] {
  const { routes, sockets } = world.server;
  const all = [...routes, ...sockets.map((socket) => ({ ...socket, method: 'GET' }))];
  return all.map(({ method, path, scope, reach }) => ({
    method,
    path,
    least: scope === 'instance-or-OPERATE' ? 'OPERATE' : scope,
    reach: reach ?? '-',
  }));
}

/** Asks with a key, of a route about instance, node or configuration `subject`. */
async function ask({ method, path }: Row, token: string, subject = 'hello') {
  // Enough time passes that the limit of failures does not answer.
  await world.clock.advance(60_000);
  const id = path.startsWith('/cluster') ? 'n1' : path.startsWith('/instances') ? idOf(subject) : 'x';
  const url = path
    .replace(':id', id)
    .replace(':name', /^\/(?:configurations|rollouts)\//.test(path) ? subject : 't')
    .replace(/:\w+/g, 'x')
    .replace('*', 'file');
  // Without a reason it would be refused before anybody looks whether the configuration is there.
  const body = path.includes('/rollback') ? { reason: 'because' } : {};
  const response = await world.call(method, url, method === 'GET' ? undefined : body, token);
  return { status: response.status, body: await response.text() };
}

const SCOPES: readonly string[] = KEY_SCOPES;
const rankOf = (scope: string): number => SCOPES.indexOf(scope);
const idOf = (configuration: string): string => (configuration === 'hello' ? 'aaaaaa' : 'bbbbbb');

async function resetInstances(): Promise<void> {
  await world.putInstance(instanceRecord({ id: 'aaaaaa', configurationName: 'hello' }));
  await world.putInstance(instanceRecord({ id: 'bbbbbb', configurationName: 'other' }));
}

describe('the routes', () => {
  it('are all in the table, each with its least scope and what a restricted key reaches', () => {
    const rows = registered().map(({ least, method, path, reach }) => `${least} ${method} ${path} ${reach}`);
    expect(rows.toSorted()).toEqual(TABLE.toSorted());
  });

  it('let each scope in that is wide enough, and no other: 403 with both scopes, PUBLIC 401', async () => {
    const tokens = new Map<string, string>();
    for (const scope of KEY_SCOPES) tokens.set(scope, await world.addKey(`k-${scope}`, scope));
    for (const row of registered()) {
      await resetInstances();
      for (const scope of KEY_SCOPES) {
        const { status, body } = await ask(row, tokens.get(scope) ?? '');
        const said = `${row.method} ${row.path} with ${scope}: ${status} ${body.slice(0, 200)}`;
        const isWide = row.least === 'open' || rankOf(scope) >= rankOf(row.least);
        if (isWide) expect([401, 403], said).not.toContain(status);
        else if (scope === 'PUBLIC')
          expect([status, body], said).toEqual([401, '{"error":"Unauthorized","code":"DRV_KEY_REFUSED"}']);
        else {
          const error = `key k-${scope} has scope ${scope}: this needs ${row.least}`;
          expect([status, JSON.parse(body)], said).toEqual([403, { code: 'DRV_KEY_LIMITED', error }]);
        }
      }
      const { status } = await ask(row, '');
      expect(status === 401, `${row.method} ${row.path} without a key: ${status}`).toBe(row.least !== 'open');
    }
  });

  it('keep a key that is restricted to configurations to these: 403 with the reason, or as if the rest were not there', async () => {
    const token = await world.addKey('team', 'ALL', { configurations: ['hel*'] });
    for (const row of registered().filter(({ least }) => least !== 'open')) {
      await resetInstances();
      const own = await ask(row, token);
      const said = `${row.method} ${row.path}: ${own.status} ${own.body.slice(0, 200)}`;
      if (row.reach === '-') {
        expect(own.status, said).toBe(403);
        expect(own.body, said).toContain('key team is restricted to configurations hel*');
        continue;
      }
      expect([401, 403], said).not.toContain(own.status);
      if (row.reach === 'filtered') {
        // The schema is the same for every key, and its words are plain ones.
        if (!row.path.startsWith('/schemas/')) expect(own.body, said).not.toMatch(/bbbbbb|other/);
        continue;
      }
      await resetInstances();
      const hidden = await ask(row, token, 'other');
      const status = { instance: 404, 'bad-instance': 400, configuration: 404, 'new-configuration': 403 }[
        row.reach
      ];
      expect(hidden.status, `${said} / ${hidden.body}`).toBe(status);
      if (row.reach.endsWith('instance')) await world.dropInstance('bbbbbb');
      const missing = await ask(row, token, row.reach.endsWith('instance') ? 'other' : 'nothing');
      expect(missing.body.replaceAll('nothing', 'other'), said).toBe(hidden.body);
    }
    const written = [{}, { reset: undefined }].map((input) => ({ name: 'hello', input }));
    expect([world.written, world.stops]).toEqual([written, 0]);
  });
});

describe('a key that may read', () => {
  it('is told of an unknown path or method, like an ALL key', async () => {
    const token = await world.addKey('viewer', 'READ', { configurations: ['x'] });
    expect((await world.call('GET', '/nothing', undefined, token)).status).toBe(404);
    expect((await world.call('PATCH', '/instances', undefined, token)).status).toBe(405);
    expect((await world.call('GET', '/%zz', undefined, token)).status).toBe(400);
  });
});
