// Fails where the registry knows a hole, high or critical, of a package that is shipped: one of `dependencies`, or one in
// the bundles (dist/bom.cdx.json). Says so where the registry answers no audits. Needs `npm run build`.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const { packages } = read('package-lock.json');
const bundled = new Set(
  read('dist/bom.cdx.json').components.map(({ name, version }) => `${name}@${version}`),
);

const isShipped = (path) => {
  const { name = path.replace(/^.*node_modules\//, ''), version, dev = false } = packages[path] ?? {};
  return !dev || bundled.has(`${name}@${version}`);
};

const { stdout } = spawnSync('npm', ['audit', '--json'], { encoding: 'utf8' });
const answer = /^\s*\{/.test(stdout) ? JSON.parse(stdout) : {};
if (answer.vulnerabilities === undefined) {
  const reason = answer.message ?? answer.error?.summary ?? 'no answer';
  process.stdout.write(`audit: the registry answers none here (${reason}); nothing was checked\n`);
} else {
  const holes = Object.values(answer.vulnerabilities).filter(
    ({ severity, nodes }) => /^(?:high|critical)$/.test(severity) && nodes.some(isShipped),
  );
  for (const { name, severity, range, via } of holes)
    process.stdout.write(
      `audit: ${name} ${range}: ${severity}: ${via.map((one) => one.title ?? one).join('; ')}\n`,
    );
  if (holes.length === 0) process.stdout.write('audit: no known high hole in what is shipped\n');
  else process.exitCode = 1;
}
