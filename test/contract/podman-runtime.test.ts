/** The docker runtime keeps the contract of all runtimes on Podman too. */
import { afterAll, beforeAll, describe } from 'vitest';
import { type ContainerEngine, startPodman } from '../support/runtime/docker-engine.js';
import { DockerWorld } from '../support/runtime/docker-world.js';
import { testAttach } from './attach-contract.js';
import { testRuntime } from './runtime-contract.js';

/** Podman is started first: only then is it known whether the tests can run. */
const started = await startPodman();
const reason = typeof started === 'string' ? started : undefined;

describe.skipIf(reason !== undefined)(
  `on Podman${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    let engine: ContainerEngine;
    beforeAll(() => {
      if (typeof started !== 'string') engine = started;
    });
    afterAll(() => engine.close());

    // Of a flood Podman may keep too little for the log, and so for a reader, to be too much.
    testAttach(() => new DockerWorld(engine), { isTransparent: true, dropsSlow: false });
    testRuntime('docker', () => new DockerWorld(engine), {
      hasPids: false,
      signalsGroup: false,
      addedVariables: ['HOSTNAME', 'HOME', 'SHLVL', 'container'],
    });
  },
);
