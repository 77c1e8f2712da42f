/**
 * The instance of the live-log benchmark: told `go <seconds> [<rate>]` on its input, it writes numbered lines, by default
 * 10,000 a second, `<number> <Unix ms> <filling>`, some every 10 ms. Told `fill <MiB>`, it writes so much as fast as it can.
 */
import { createInterface } from 'node:readline';

const LINES_PER_SECOND = 10_000;
const TICK_MS = 10;
const FILLING = 'x'.repeat(60);

let written = 0;

function write(count: number): number {
  const at = (performance.timeOrigin + performance.now()).toFixed(2);
  const lines = Array.from({ length: count }, () => `${++written} ${at} ${FILLING}\n`).join('');
  process.stdout.write(lines);
  return lines.length;
}

function go(seconds: number, rate: number): void {
  written = 0;
  const begin = performance.now();
  const total = seconds * rate;
  const perTick = (rate * TICK_MS) / 1000;
  const timer = setInterval(() => {
    // A tick that comes late writes what is due by now, so that the rate holds.
    const due = Math.min(total, Math.floor((performance.now() - begin) / TICK_MS) * perTick);
    if (due > written) write(due - written);
    if (written >= total) clearInterval(timer);
  }, TICK_MS);
}

function fill(bytes: number): void {
  for (let done = 0; done < bytes; ) done += write(1000);
  process.stdout.write('filled\n');
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const [verb, argument, rate = LINES_PER_SECOND] = line.trim().split(' ');
  if (verb === 'go') go(Number(argument), Number(rate));
  if (verb === 'fill') fill(Number(argument) * 1024 * 1024);
});
console.log('ready');
