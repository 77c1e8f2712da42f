/**
 * Breaks each condition of the pure decisions once, and runs the tests that cover the broken file. A break that no
 * test notices is a survivor. Or it plants faults that the simulation is to find. See test/README.md.
 *
 * Exit code 1: there are survivors that `EXPLAINED` does not name, or planted faults that no seed found.
 */

import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';
import { transformSync } from 'rolldown/utils';
import { PLANTED } from './planted-faults.mjs';
import { PLANTED_IN_MASTERS } from './planted-in-masters.mjs';

const USAGE = `npm run test:mutation                             every plan.ts of controllers/, and the pure files beside them
npm run test:mutation -- FILE [FILE ...]          these files only
npm run test:mutation -- --simulation [N [TEXT]]  plants the faults of planted-faults.mjs, each until one of N seeds fails (500)
npm run test:mutation -- --masters [N [TEXT]]     those of planted-in-masters.mjs, in fleets with three masters

TEXT: only the faults with that in their names.`;

const REPOSITORY = join(dirname(fileURLToPath(import.meta.url)), '../..');
/** The files that a test run needs; the rest of the repository is not copied. */
const COPIED = ['controllers', 'src', 'tools', 'test', 'package.json', 'tsconfig.json', 'vitest.config.ts'];
/** The pure files beside the plans: they decide, and have no effects. */
const DECISIONS = [
  'conditions',
  'verdict',
  'moves',
  'owners',
  'faults',
  'goal',
  'readiness-plan',
  'restart-delay',
];

/** Survivors, each with the reason why no fact can tell the two forms apart. */
const EXPLAINED = {
  'controllers/master/configurations/tree.ts: file < (claims.get(name) ?? `${file}~`) -> (file <= (claims.get(name) ?? `${file}~`))':
    'each file claims once, so the two names differ',
  'controllers/master/minimum-service/plan.ts: a.id < b.id -> (a.id <= b.id)': 'two instances have two ids',
  'controllers/master/placement/plan.ts: a.nodeId < b.nodeId -> (a.nodeId <= b.nodeId)':
    'two nodes have two ids',
};

const OPPOSITE = { '===': '!==', '!==': '===', '<': '>=', '<=': '>', '>': '<=', '>=': '<' };
/** The operator that differs from each comparison only where both sides are equal. */
const BOUNDARY = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
/** A simulation hangs when no seed has ended for this long. On a slow machine a seed only takes longer. */
const HANGS_AFTER_MS = 300_000;
const LOGICAL = { '&&': '||', '||': '&&' };
const TESTED = ['IfStatement', 'WhileStatement', 'ForStatement', 'ConditionalExpression'];
/** The places where a logical expression is asked for its truth; elsewhere `||` may choose a value. */
const ASKED = ['ReturnStatement', 'ArrowFunctionExpression'];

/** All breaks of one file: each `{line, was, becomes, text}`, where `text` is the broken file. */
function breaksOf(source) {
  const breaks = new Map();
  const textOf = ({ start, end }) => source.slice(start, end);
  const add = (node, becomes) => {
    const text = source.slice(0, node.start) + becomes + source.slice(node.end);
    const line = source.slice(0, node.start).split('\n').length;
    breaks.set(text, { line, was: textOf(node), becomes, text });
  };
  const isCondition = (node) => {
    const { parent } = node;
    if (parent.type === 'LogicalExpression') return isCondition(parent);
    return parent.type === 'UnaryExpression' || parent.test === node || ASKED.includes(parent.type);
  };
  // A comparison has its own break, and so have the parts of a logical expression.
  const negate = (node) => {
    const isBroken =
      node.type === 'LogicalExpression' || (node.type === 'BinaryExpression' && node.operator in OPPOSITE);
    if (!isBroken) add(node, `!(${textOf(node)})`);
  };
  const visit = (node, parent) => {
    node.parent = parent;
    if (node.type === 'BinaryExpression' || node.type === 'LogicalExpression') {
      const { left, right, operator } = node;
      const between = source.slice(left.end, right.start);
      for (const other of [OPPOSITE, BOUNDARY, LOGICAL].map((table) => table[operator])) {
        const becomes =
          textOf({ start: node.start, end: left.end }) +
          between.replace(operator, other) +
          textOf({ start: right.start, end: node.end });
        if (other !== undefined) add(node, `(${becomes})`);
      }
      if (operator in LOGICAL && isCondition(node)) for (const side of [left, right]) negate(side);
    }
    if (TESTED.includes(node.type) && node.test !== null) negate(node.test);
    for (const [key, value] of Object.entries(node)) {
      if (key === 'parent') continue;
      for (const child of Array.isArray(value) ? value : [value])
        if (typeof child?.type === 'string') visit(child, node);
    }
  };
  visit(parseAst(source, { lang: 'ts', preserveParens: false }), null);
  return [...breaks.values()];
}

/** The files under `directory`, as paths from the repository's root. */
async function filesUnder(directory) {
  const names = await readdir(join(REPOSITORY, directory), { recursive: true });
  return names.map((name) => join(directory, name)).toSorted();
}

async function decisionFiles() {
  const files = await filesUnder('controllers');
  return files.filter((path) => {
    const name = basename(path, '.ts');
    return path.endsWith('.ts') && (name === 'plan' || DECISIONS.includes(name));
  });
}

/** The unit tests and property tests that import a file of the same controller. */
async function testsOf(path) {
  const found = [];
  for (const test of [...(await filesUnder('test/unit')), ...(await filesUnder('test/property'))]) {
    if (!test.endsWith('.test.ts')) continue;
    const text = await readFile(join(REPOSITORY, test), 'utf8');
    const room = dirname(path);
    if (text.includes(`/${room}/`)) found.push(test);
  }
  return found;
}

/** True when the tests pass in `lane`. A break that makes a loop endless fails by the time limit. */
async function passes(lane, tests) {
  const vitest = join(REPOSITORY, 'node_modules/vitest/vitest.mjs');
  const parameters = [
    'run',
    '--bail',
    '1',
    '--testTimeout',
    '10000',
    '--pool',
    'threads',
    '--maxWorkers',
    '1',
    ...tests,
  ];
  const run = spawn(process.execPath, [vitest, ...parameters], { cwd: lane, stdio: 'ignore' });
  const timer = setTimeout(() => run.kill('SIGKILL'), 60_000);
  const code = await new Promise((resolve) => run.on('close', resolve));
  clearTimeout(timer);
  return code === 0;
}

async function makeLane() {
  const lane = await mkdtemp(join(tmpdir(), 'drover-mutation-'));
  for (const name of COPIED) await cp(join(REPOSITORY, name), join(lane, name), { recursive: true });
  await symlink(join(REPOSITORY, 'node_modules'), join(lane, 'node_modules'));
  return lane;
}

/** A source of the repository as JavaScript in `lane`. */
async function compile(lane, path, source) {
  const { code, errors } = transformSync(path, source, { typescript: { onlyRemoveTypeImports: true } });
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`);
  const target = join(lane, path.replace(/\.ts$/, '.js'));
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, code);
}

/** The files that a simulation needs. */
async function makeSimulationLane() {
  const lane = await mkdtemp(join(tmpdir(), 'drover-planted-'));
  await cp(join(REPOSITORY, 'package.json'), join(lane, 'package.json'));
  await symlink(join(REPOSITORY, 'node_modules'), join(lane, 'node_modules'));
  for (const room of ['controllers', 'src', 'test/simulation', 'test/support'])
    for (const path of await filesUnder(room))
      if (path.endsWith('.ts')) await compile(lane, path, await readFile(join(REPOSITORY, path), 'utf8'));
  return lane;
}

/** Runs seeds in `lane` until one fails: `{found, done, says}`. A simulation that hangs or breaks is found as well. */
async function simulateIn(lane, { seeds, masters }) {
  const parameters = ['test/simulation/main.js', '--bail', '--workers', '1'];
  parameters.push('--masters', String(masters), '--seeds', String(seeds));
  const run = spawn(process.execPath, parameters, { cwd: lane, stdio: ['ignore', 'pipe', 'ignore'] });
  let output = '';
  const doneOf = () => [...output.matchAll(/^(\d+) of \d+ seeds/gm)].at(-1)?.[1] ?? '0';
  let doneBefore = '0';
  const timer = setTimeout(() => run.kill('SIGKILL'), HANGS_AFTER_MS);
  run.stdout.on('data', (bytes) => {
    output += bytes;
    if (doneOf() !== doneBefore) timer.refresh();
    doneBefore = doneOf();
  });
  const code = await new Promise((resolve) => run.on('close', resolve));
  clearTimeout(timer);
  const done = doneOf();
  const says = /^seed .*$/m.exec(output)?.[0] ?? (code === null ? 'it hangs' : 'it breaks');
  return { found: code !== 0, done, says };
}

async function plantAll(faults, options) {
  const lanes = await Promise.all(
    Array.from({ length: Math.min(availableParallelism(), 8) }, makeSimulationLane),
  );
  const queue = [...faults];
  let missed = 0;
  const runLane = async (lane) => {
    for (let fault = queue.shift(); fault !== undefined; fault = queue.shift()) {
      const { name, path, was, becomes } = fault;
      const source = await readFile(join(REPOSITORY, path), 'utf8');
      if (source.split(was).length !== 2) throw new Error(`${path} does not hold this once: ${was}`);
      await compile(
        lane,
        path,
        source.replace(was, () => becomes),
      );
      const { found, done, says } = await simulateIn(lane, options);
      await compile(lane, path, source);
      if (!found) missed++;
      console.log(
        found
          ? `found: ${name} (${done} seeds): ${says.slice(0, 160)}`
          : `not found: ${name} (${done} seeds)`,
      );
    }
  };
  try {
    const { found, says } = await simulateIn(lanes[0], { ...options, seeds: 20 });
    if (found) throw new Error(`the simulation fails without any fault: ${says}`);
    await Promise.all(lanes.map(runLane));
  } finally {
    await Promise.all(lanes.map((lane) => rm(lane, { recursive: true, force: true })));
  }
  console.log(
    `${faults.length - missed} of ${faults.length} planted faults found, within ${options.seeds} seeds each`,
  );
  process.exitCode = missed > 0 ? 1 : 0;
}

async function breakAll(named) {
  const files = named.length > 0 ? named : await decisionFiles();
  const work = [];
  for (const path of files) {
    const source = await readFile(join(REPOSITORY, path), 'utf8');
    const tests = await testsOf(path);
    if (tests.length === 0) throw new Error(`${path}: no test under test/unit or test/property imports it`);
    for (const each of breaksOf(source)) work.push({ path, source, tests, ...each });
  }

  const lanes = await Promise.all(Array.from({ length: Math.min(availableParallelism(), 8) }, makeLane));
  const survivors = [];
  let done = 0;
  try {
    for (const path of new Set(work.map((each) => each.path))) {
      const { tests } = work.find((each) => each.path === path);
      if (!(await passes(lanes[0], tests)))
        throw new Error(`${path}: its tests fail without any break: ${tests.join(' ')}`);
    }
    const queue = [...work];
    const runLane = async (lane) => {
      for (let each = queue.shift(); each !== undefined; each = queue.shift()) {
        await writeFile(join(lane, each.path), each.text);
        if (await passes(lane, each.tests)) {
          survivors.push(each);
          console.log(`survives: ${each.path}:${each.line}: ${each.was} -> ${each.becomes}`);
        }
        await writeFile(join(lane, each.path), each.source);
        done++;
        if (done % 25 === 0) console.log(`${done} of ${work.length} breaks, ${survivors.length} survivors`);
      }
    };
    await Promise.all(lanes.map(runLane));
  } finally {
    await Promise.all(lanes.map((lane) => rm(lane, { recursive: true, force: true })));
  }

  const unexplained = survivors.filter(
    ({ path, was, becomes }) => EXPLAINED[`${path}: ${was} -> ${becomes}`] === undefined,
  );
  console.log(
    `${work.length} breaks of ${files.length} files: ${work.length - survivors.length} found, ` +
      `${survivors.length - unexplained.length} explained, ${unexplained.length} survivors`,
  );
  process.exitCode = unexplained.length > 0 ? 1 : 0;
}

/** The faults that each option plants, and how many masters its fleets have. */
const PLANTINGS = {
  '--simulation': { faults: PLANTED, masters: 1 },
  '--masters': { faults: PLANTED_IN_MASTERS, masters: 3 },
};

async function plantNamed({ faults, masters }, [count = '500', text = '']) {
  const seeds = Number(count);
  const meant = faults.filter(({ name }) => name.includes(text));
  if (!Number.isInteger(seeds) || seeds < 1) throw new Error(`${count} is no number of seeds\n${USAGE}`);
  if (meant.length === 0) throw new Error(`no planted fault has "${text}" in its name`);
  await plantAll(meant, { seeds, masters });
}

const [option, ...parameters] = process.argv.slice(2);
if (option === '--help') console.log(USAGE);
else if (PLANTINGS[option] !== undefined) await plantNamed(PLANTINGS[option], parameters);
else if (option?.startsWith('-')) throw new Error(`there is no option ${option}\n${USAGE}`);
else await breakAll(process.argv.slice(2));
