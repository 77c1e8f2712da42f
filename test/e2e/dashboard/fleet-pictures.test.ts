/**
 * Pictures of a fleet of three nodes with players, charts of a day, a crash loop and a broken file: for a person, and for
 * the README. `npm run screenshots` takes them. Needs `npm run build`.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { InstanceInfo } from '../../../src/model/instance.js';
import type { RootPaths } from '../../../src/node/root.js';
import { Member } from '../../support/cluster/member.js';
import { CHROMIUM } from '../../support/dashboard/browser.js';
import { IS_FOR_PERSON, SIZES, THEMES } from '../../support/dashboard/every-screen.js';
import { type SharedDashboard, shareDashboard } from '../../support/dashboard/shared-dashboard.js';
import { until } from '../../support/until.js';

vi.setConfig({ testTimeout: 900_000 });

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
const NODES = ['ams-1', 'ams-2'];
/** What each configuration has: its count, reserved RAM, and the players of an instance at the best time of the day. */
const FLEET = {
  lobby: { count: 6, ramMB: 768, players: 38 },
  survival: { count: 4, ramMB: 2048, players: 61 },
  arena: { count: 3, ramMB: 1024, players: 16 },
  web: { count: 2, ramMB: 256, players: null },
} as const;
/** Holds 40 MB, and writes three lines a second. */
const LOG = `world=$(head -c 40M /dev/zero | tr '\\0' x); n=0; echo "Done (1.9s)! For help, type help"
while sleep 0.3; do n=$((n+1)); case $((n % 7)) in
1) echo "[INFO] player-$((n % 23)) joined the game";;
3) echo "[WARN] Can't keep up! Running $((n * 3 + 40)) ms behind";;
5) echo "[ERROR] Could not save chunk $((n % 31)),$((n % 17)): timed out";;
*) echo "[INFO] tick $n took $((n % 13 + 2)) ms";; esac; done`;

describe.runIf(IS_FOR_PERSON && CHROMIUM !== undefined)('a fleet of three nodes in Chromium', () => {
  let shared: SharedDashboard;
  const members: Member[] = [];
  shareDashboard((one) => {
    shared = one;
  });
  afterEach(async () => {
    for (const member of members.splice(0)) await member.finish();
    for (const nodeId of NODES) await shared.daemon.api.send('DELETE', `/cluster/nodes/${nodeId}?force=true`);
  });

  it('is seen at every size, light and dark', async () => {
    const { daemon } = shared;
    for (const nodeId of NODES) await joinNode(nodeId);
    for (const [name, { count, ramMB }] of Object.entries(FLEET))
      daemon.configure(name, { command: LOG, minimumServiceCount: count, ramMB, runtime: 'process' });
    daemon.configure('payments-api', {
      command: 'sleep 0.2; echo "FATAL: database schema 42 is not known"; exit 3',
      minimumServiceCount: 1,
    });
    daemon.failing.add('payments-api');
    daemon.writeConfigurationFile(
      'matchmaker.json',
      '{\n  "name": "matchmaker",\n  "command": "./matchmaker",\n  "minimumServiceCount": "four"\n}\n',
    );
    const all: InstanceInfo[] = [];
    for (const [name, { count, players }] of Object.entries(FLEET))
      for (const one of await daemon.untilOnline(name, count)) {
        all.push(one);
        if (players === null) continue;
        const now = Math.round(players * (0.6 + (all.length % 5) / 12));
        await daemon.api.send('PUT', `/instances/${one.id}/state`, { state: 'ONLINE', players: now });
      }
    await daemon.untilMessage('payments-api', /restart [4-9] in/);
    const roots = new Map([
      ['node-a', daemon.paths],
      ...members.map((one, at) => [NODES[at] ?? '', one.paths] as const),
    ]);
    for (const [node, paths] of roots)
      rememberDay(
        paths,
        all.filter((one) => one.wrapperNodeId === node),
      );

    const [lobby] = all;
    const screens = {
      overview: ['.tile polyline[points*=","]', '.concern-line', '.chart'],
      instances: ['.grid-row'],
      configurations: ['.grid-row'],
      nodes: ['.cell'],
      'wall?configuration=lobby': ['.log-row >> nth=30'],
      [`instances/${lobby?.id}`]: ['.log-row >> nth=10'],
      'configurations/lobby': ['.grid-row', '.chart'],
      'nodes/ams-1': ['.cell', '.chart'],
    };
    for (const { size, ...window } of [...SIZES, { size: 'readme', width: 1280, height: 800 }]) {
      const dashboard = await shared.open(window);
      await dashboard.signIn(shared.admin);
      for (const [screen, shown] of Object.entries(screens)) {
        await dashboard.show(screen);
        for (const selector of shown)
          await dashboard.page.locator(selector).first().waitFor({ state: 'attached' });
        const name = screen.replace(lobby?.id ?? '', 'one').replaceAll(/\W/g, '-');
        for (const theme of THEMES) {
          await dashboard.page.emulateMedia({ colorScheme: theme });
          await dashboard.shoot(`fleet-${name}-${size}-${theme}`);
        }
      }
      await dashboard.close();
    }
  });

  async function joinNode(nodeId: string): Promise<void> {
    const { text } = await shared.daemon.api.send('POST', '/cluster/tokens', {});
    const { token } = JSON.parse(text);
    const member = await Member.create();
    members.push(member);
    await member.join(token, `127.0.0.1:${shared.daemon.apiPort + 1}`, nodeId);
    member.start();
    await until(async () => {
      const answer = await shared.daemon.api.send('GET', '/cluster/nodes');
      expect(answer.text).toContain(nodeId);
    });
  }
});

/** Writes what a node would have noted over the last day. */
function rememberDay(paths: RootPaths, instances: readonly InstanceInfo[]): void {
  const now = Date.now();
  for (let minute = DAY_MINUTES; minute > 0; minute--) {
    const at = now - minute * MINUTE_MS;
    const samples = instances.map(({ id, configurationName }, place) => {
      const { players } = FLEET[configurationName as keyof typeof FLEET];
      // Most people are there in the evening, the fewest before sunrise.
      const crowd =
        0.55 +
        0.4 * Math.sin((2 * Math.PI * (at / MINUTE_MS - 14 * 60)) / DAY_MINUTES) +
        0.05 * Math.sin(minute / 7 + place);
      const memory = Math.round((42 + 6 * crowd + place / 4) * 1024 * 1024);
      return [
        id,
        configurationName,
        Math.round((1.2 + crowd + place / 20) * 10) / 10,
        memory,
        players === null ? null : Math.round(players * crowd),
        1,
      ];
    });
    appendFileSync(
      join(paths.usage, `${Math.floor(at / (60 * MINUTE_MS))}.jsonl`),
      `\n${JSON.stringify([at, ...samples])}`,
    );
  }
}
