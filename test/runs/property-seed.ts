/** Loaded before each test file when `DROVER_PROPERTY_SEED` is set, as in CI: the properties draw the same each time. */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.DROVER_PROPERTY_SEED) });
