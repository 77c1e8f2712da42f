/** Faults in the work of several masters, as in `planted-faults.mjs`. Fleets with three masters are to find them. */
import { PLANTED } from './planted-faults.mjs';

export const PLANTED_IN_MASTERS = [
  {
    name: 'a write does not compare the leader key',
    path: 'src/store/etcd/term-writer.ts',
    was: "          { key: keys.leader, field: 'createRevision', is: createRevision },\n",
    becomes: '',
  },
  {
    name: 'a write does not compare the last write',
    path: 'src/store/etcd/term-writer.ts',
    was: "          { key: keys.summary, field: 'modRevision', is: this.#summaryRevision },\n",
    becomes: '',
  },
  {
    name: 'a leader decides past its lease',
    path: 'src/store/etcd/etcd-store.ts',
    was: 'if (term.isCurrent) {',
    becomes: 'if (!term.signal.aborted) {',
  },
  {
    name: 'a write without an answer is acknowledged',
    path: 'src/store/etcd/etcd-store.ts',
    was: 'if (failure === undefined) return;\n    if (failure.error',
    becomes: 'if (failure === undefined || failure.isOutcomeUnknown) return;\n    if (failure.error',
  },
  {
    name: 'a write that took effect without an answer is not shown',
    path: 'src/store/etcd/etcd-store.ts',
    was: 'if (taken === write.number) this.settleLate(group);',
    becomes: '',
  },
  {
    name: 'a follower leads without what the last leader wrote',
    path: 'src/store/etcd/election.ts',
    was: '      store.take(news);\n',
    becomes: "      if (news.kind === 'snapshot') store.take(news);\n",
  },
  {
    name: 'a watch goes on from where etcd is, and not from what it has delivered',
    path: 'src/store/etcd/follow.ts',
    was: '          await retryLater(options, error, failures++);\n        }\n      }',
    becomes:
      '          await retryLater(options, error, failures++);\n          revision = (await untilAnswered(options, () => etcd.range({ key: prefix })))?.revision ?? revision;\n        }\n      }',
  },
  {
    name: 'a node follows a leader of an earlier term',
    path: 'src/channel/wrapper/known-masters.ts',
    was: 'if (epoch !== null && known !== null && epoch < known && older?.isAccepted !== true) {',
    becomes: 'if (known === -1) {',
  },
  {
    name: 'a leader that etcd is silent for does not hear of the next one',
    path: 'src/leadership/leader-search.ts',
    was: 'if (leader !== null) leadership.heard(leader);',
    becomes: '',
  },
  {
    name: 'a node forgets the masters that are away',
    path: 'src/channel/wrapper/known-masters.ts',
    was: 'return [...masters, ...this.#kept.masters.filter((former) => !isKnown(former))].slice(',
    becomes: 'return [...masters, ...this.#kept.masters.filter(() => isKnown === undefined)].slice(',
  },
  {
    name: 'the nodes stay with a leader whose term has ended',
    path: 'src/channel/master/hub.ts',
    was: "    for (const transport of this.#transports.keys()) transport.close('the master stops');\n",
    becomes: '',
  },
  {
    name: 'the snapshot of a new leader leaves out what a node runs',
    path: 'src/channel/master/node-feed.ts',
    was: '    for (const id of instancesByNode.get(this.#options.nodeId)) this.#dirty.add(id);\n',
    becomes: '',
  },
  {
    name: 'a new leader gives the nodes no time to find it',
    path: 'src/channel/master/beat-book.ts',
    was: 'const RETURN_MS = 10_000;',
    becomes: 'const RETURN_MS = -10_000;',
  },
  ...PLANTED.filter(({ name }) =>
    [
      'a process without a handle',
      'a run asked for twice',
      'what waits is not woken',
      'a run is timed by',
    ].some((text) => name.startsWith(text)),
  ),
];
