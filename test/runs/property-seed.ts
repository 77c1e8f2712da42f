/**
 * Loaded before each test file when `DROVER_PROPERTY_SEED` is set, as in CI, so that the properties draw the same
 * values each time.
 */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.DROVER_PROPERTY_SEED) });
