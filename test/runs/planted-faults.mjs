/** Faults that matter, each as one change of a source file. `mutation.mjs` plants them. */
export const PLANTED = [
  {
    name: 'a change of a node wakes no placement',
    path: 'controllers/master/wake/record-wakes.ts',
    was: '  yield* wakesOfNewPlace(facts);\n',
    becomes: '',
  },
  {
    name: 'a process without a handle is not adopted, and started once more',
    path: 'controllers/wrapper/process-supervisor/adoption.ts',
    was: 'if (handles.get(entry.instanceId) === undefined) this.#open(runtime, entry);',
    becomes: '{}',
  },
  {
    name: 'a port that another instance has is given away',
    path: 'controllers/master/placement/held-ports.ts',
    was: '    for (let free = freeBits(scopes, range, word); free !== 0; free &= free - 1) {\n',
    becomes: '    for (let free = freeBits([], range, word); free !== 0; free &= free - 1) {\n',
  },
  {
    name: 'reports are acknowledged before they are recorded',
    path: 'src/channel/master/status-messages.ts',
    was: '    const unrecorded = (this.#unrecordedBytes.get(nodeId) ?? 0) + bytes;\n',
    becomes:
      "    transport.send({ type: 'status-acknowledged', sequence });\n    intake.take(nodeId, reports).catch(() => undefined);\n    if (bytes >= 0) return;\n    const unrecorded = (this.#unrecordedBytes.get(nodeId) ?? 0) + bytes;\n",
  },
  {
    name: 'a node takes deltas out of their order',
    path: 'src/channel/wrapper/link.ts',
    was: 'if (message.sequence !== connection.fedSequence + 1)',
    becomes: 'if (message.sequence < 0)',
  },
  {
    name: 'a transaction is answered before it is on the disk',
    path: 'src/store/embedded-store.ts',
    was: 'if (changing.length > 0) await this.write(changing);',
    becomes: 'if (changing.length > 0) this.write(changing).catch(() => undefined);',
  },
  {
    name: 'an update does not compare the revision',
    path: 'src/store/key-table.ts',
    was: 'expectRevision(key, revision, operation.expectedRevision);\n        return true;',
    becomes: 'return true;',
  },
  {
    name: 'a raised restart token restarts nothing',
    path: 'controllers/wrapper/process-supervisor/goal.ts',
    was: 'handle.restartToken !== assignment.restartToken || hasFormerPort',
    becomes: 'hasFormerPort',
  },
  {
    name: 'remains of a run are not looked for',
    path: 'controllers/wrapper/process-supervisor/plan.ts',
    was: '      return planRemains(handle, phase, now);\n',
    becomes:
      "      return planDown(facts, handle, { is: 'down', directory: 'stale', next: phase.next }, goal, now);\n",
  },
  {
    name: 'a drain does not wait for players',
    path: 'controllers/master/replacement/verdict.ts',
    was: 'victim.players > 0 && remainingMs > 0',
    becomes: 'false',
  },
  {
    name: 'a replacement stays when its original is back',
    path: 'controllers/master/wake/record-wakes.ts',
    was: "placement?.nodeId === id)\n      yield { controller: 'replacement', key, when: 0 };",
    becomes: 'placement?.nodeId === id) {}',
  },
  {
    name: 'a node that only was silent for a moment is called lost',
    path: 'controllers/master/heartbeat/plan.ts',
    was: "if (silentMs < timeoutMs && facts.condition !== 'lost')",
    becomes: 'if (false)',
  },
  {
    name: 'an exit that no daemon saw is passed over by adoption',
    path: 'controllers/wrapper/process-supervisor/adoption.ts',
    was: "    if (handle.phase.is !== 'up' && !isItsRun) {",
    becomes: '    if (!isItsRun) {',
  },
  {
    name: 'a snapshot does not confirm what a node holds',
    path: 'src/node/desired-copy.ts',
    was: '    this.#isConfirmed = true;\n',
    becomes: '',
  },
  {
    name: 'the promise of a placement that failed is not withdrawn',
    path: 'controllers/master/placement/ledger.ts',
    was: '    if (!this.#promised.delete(id)) return false;\n',
    becomes: '    if (this.#promised.has(id)) return false;\n',
  },
  {
    name: 'the stop signal follows the stop command at once',
    path: 'controllers/wrapper/process-supervisor/stop-ladder.ts',
    was: 'stopping.since + stop.timeoutMs / 2 - now',
    becomes: '0',
  },
  {
    name: 'an instance is ready before its check',
    path: 'controllers/wrapper/process-supervisor/readiness-plan.ts',
    was: 'return readiness?.run === run && readiness.isReady;',
    becomes: 'return readiness !== null && readiness.isReady;',
  },
  {
    name: 'what is not ready in time is ended',
    path: 'controllers/wrapper/process-supervisor/readiness-plan.ts',
    was: "{ steps: [{ do: 'note-not-ready', run }] }",
    becomes: "{ steps: [{ do: 'signal', signal: 'SIGTERM', run }] }",
  },
  {
    name: 'a restart after a crash waits for the master',
    path: 'controllers/wrapper/template-installer/plan.ts',
    was: '  if (handle.installed === null || !isUnasked(handle) || !isLastInstallCached) return undefined;',
    becomes:
      '  if (handle.installed !== null || !isUnasked(handle) || !isLastInstallCached) return undefined;',
  },
  {
    name: 'a restart that was asked for takes the last install',
    path: 'controllers/wrapper/template-installer/plan.ts',
    was: 'return installed !== null && installed.restartToken === restartToken;',
    becomes: 'return installed !== null && restartToken >= 0;',
  },
  {
    name: 'a forgotten node keeps its connection',
    path: 'src/master.ts',
    was: "        this.#term?.hub.disconnect(nodeId, 'the node was forgotten');\n",
    becomes: '',
  },
];
