/**
 * Loaded into a benchmarked daemon with `--import`: on SIGUSR2 it writes the 99th percentile and the maximum of the
 * event loop's delay since the last signal, in milliseconds, to the file that DROVER_BENCH_LOOP_DELAY names.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** The histogram holds whole intervals between samples: the delay is what is above this. */
const SAMPLE_MS = 1;

const histogram = monitorEventLoopDelay({ resolution: SAMPLE_MS });
histogram.enable();
process.on('SIGUSR2', () => {
  const file = process.env.DROVER_BENCH_LOOP_DELAY ?? '';
  const delays = [histogram.percentile(99), histogram.max].map((ns) => ns / 1e6 - SAMPLE_MS);
  writeFileSync(`${file}.new`, delays.join(' '));
  renameSync(`${file}.new`, file);
  histogram.reset();
});
