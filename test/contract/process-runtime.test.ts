/** The process runtime keeps the contract of all runtimes. Needs `npm run build` for the owner. */
import { ProcessWorld } from '../support/runtime/process-world.js';
import { testAttach } from './attach-contract.js';
import { testRuntime } from './runtime-contract.js';

testRuntime('process', () => new ProcessWorld());
testAttach(() => new ProcessWorld(), { isTransparent: true, size: 'smallest' });
