/** Who `runAs` means on a node, and when it is refused. */
import { expect, it } from 'vitest';
import { runAsSchema } from '../../../src/model/names.js';
import { type Machine, NodeUsers } from '../../../src/runtime/command/node-users.js';

const ALL = 'Name:\tnode\nCapEff:\t000001ffffffffff\n';
const NONE = 'Name:\tnode\nCapEff:\t0000000000000000\n';

const root: Machine = {
  uid: 0,
  gid: 0,
  username: 'root',
  passwords: () =>
    'root:x:0:0:root:/root:/bin/bash\ngames:x:5:60:games:/usr/games:/usr/sbin/nologin\nbare:x:7:7:::\n',
  status: () => ALL,
  setpriv: () => '/usr/bin/setpriv',
  hasBash: () => true,
};
const drover: Machine = { ...root, uid: 5, gid: 60, username: 'games', status: () => NONE };

it('knows a user by name or by numbers, and takes the default of the node', () => {
  const users = new NodeUsers('1001:1002', root);
  const nobody = { name: null, home: null, shell: null };
  expect(users.userOf(undefined)).toEqual({ uid: 1001, gid: 1002, ...nobody });
  expect(users.userOf('4294967294:0')).toEqual({ uid: 4_294_967_294, gid: 0, ...nobody });
  expect(users.userOf('games')).toEqual({
    uid: 5,
    gid: 60,
    name: 'games',
    home: '/usr/games',
    shell: '/usr/sbin/nologin',
  });
  expect(users.userOf('bare')).toMatchObject({ home: null, shell: null });
  expect(new NodeUsers(undefined, root).userOf(undefined)).toBeUndefined();
});

it('changes nothing for its own user, which every node can be', () => {
  for (const own of ['games', '5:60']) expect(new NodeUsers(own, drover).userOf(undefined)).toBeUndefined();
  expect(new NodeUsers('games', root).userOf('root')).toBeUndefined();
  expect(() => new NodeUsers(undefined, drover).userOf('5:61')).toThrow(/cannot start a program as another/);
});

it('says what is missing, and what to do', () => {
  const refusals: readonly (readonly [Machine, RegExp])[] = [
    [drover, /^runAs root: Drover runs as games here and cannot start .*; run it as root, or place /],
    [{ ...root, passwords: () => '' }, /^runAs root: this node has no such user in \/etc\/passwd; make it/],
  ];
  for (const [machine, message] of refusals)
    expect(() => new NodeUsers(undefined, machine).userOf('root')).toThrow(message);
  const bounded = { ...root, status: () => 'CapEff:\t000000000000003f\n' };
  expect(() => new NodeUsers(undefined, bounded).userOf('games')).toThrow(
    'runAs games: Drover runs as root here without CAP_SETGID, CAP_SETUID, so it cannot change users; ' +
      'give it these capabilities',
  );
  expect(() => new NodeUsers('games', { ...root, setpriv: () => undefined }).setpriv('screen')).toThrow(
    'runAs games: the program setpriv of util-linux is not installed here; install it',
  );
  const withoutBash = new NodeUsers('games', { ...root, hasBash: () => false });
  expect(withoutBash.setpriv('screen')).toBe('/usr/bin/setpriv');
  expect(() => withoutBash.setpriv('process')).toThrow(
    /^runAs games: without bash a program .*; install bash/,
  );
});

it('takes names and numbers that a user can have, and nothing that a shell could read otherwise', () => {
  for (const good of ['games', '_apt', 'www-data', 'first.last', '0:0', '4294967294:1'])
    expect(runAsSchema.safeParse(good).success, good).toBe(true);
  for (const bad of ['', '1001', '1001:', '4294967295:1', '1:-1', '-x', 'a b', 'a;b', '$(id)', "a'b", 'a\n'])
    expect(runAsSchema.safeParse(bad).success, bad).toBe(false);
});
