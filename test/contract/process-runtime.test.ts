/** The process runtime keeps the contract of all runtimes. Needs `npm run build` for the owner. */
import { ProcessWorld } from '../support/runtime/process-world.js';
import { testRuntime } from './runtime-contract.js';

testRuntime('process', () => new ProcessWorld());
