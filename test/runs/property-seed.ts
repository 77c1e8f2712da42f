/**
 * Loaded before each test file: the properties draw the same values each time, so that no run fails by chance.
 * `npm run test:seeds` sets `DROVER_PROPERTY_SEED` to draw others.
 */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.DROVER_PROPERTY_SEED ?? 1) });
