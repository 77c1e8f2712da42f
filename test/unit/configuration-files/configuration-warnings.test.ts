/** What is accepted in a configuration file and yet has no effect: each with its place, and what was probably meant. */
import { describe, expect, it } from 'vitest';
import { parseConfigurationFile, validateConfiguration } from '../../../src/configuration-files/parse.js';
import { editedText } from '../../support/edited-text.js';

/** The warnings on a file that says `fields` beside its command, as `line:column: field: message`. */
function warningsOf(fields: object, command = 'x'): string[] {
  const text = JSON.stringify({ command, ...fields }, null, 1);
  const result = parseConfigurationFile('web.json', text);
  if ('error' in result) throw new Error(result.error.message);
  return result.parsed.warnings.map(
    ({ line, column, field, message }) => `${line}:${column}: ${field}: ${message}`,
  );
}
const PORTS = { availablePorts: { min: 1, max: 2 } };

describe('an unknown field', () => {
  it.each([
    [
      { restartPolcy: 'never' },
      '3:2: restartPolcy: unknown field, has no effect; did you mean "restartPolicy"?',
    ],
    [{ colour: 'red' }, '3:2: colour: unknown field, has no effect'],
    [
      { availablePorts: { min: 1, max: 2, mim: 3 } },
      '6:3: availablePorts.mim: unknown field, has no effect; did you mean "min"?',
    ],
    [
      { templateInstallationConfig: { allof: [] } },
      '4:3: templateInstallationConfig.allof: unknown field, has no effect; did you mean "allOf"?',
    ],
    [
      { templateInstallationConfig: { allOf: [{ name: 'a', group: 'b', prioritty: 1 }] } },
      '8:5: templateInstallationConfig.allOf[0].prioritty: unknown field, has no effect; did you mean "priority"?',
    ],
    [
      { update: { strategy: 'rolling', maxSurg: 2 } },
      '5:3: update.maxSurg: unknown field, has no effect; did you mean "maxSurge"?',
    ],
    [
      { readiness: { logLine: 'x', timeout: 5 } },
      '5:3: readiness.timeout: unknown field, has no effect',
    ],
    [
      { minimumServiceCount: 0, restartPolicy: 'never', job: { parameters: { A: { usual: '1' } } } },
      '8:5: job.parameters.A.usual: unknown field, has no effect',
    ],
  ])('in %j is named with its place', (fields, warning) => {
    expect(warningsOf(fields)).toEqual([warning]);
  });

  it('is not what a map of the operator holds, nor the schema that an editor asks for', () => {
    const maps = { environmentVariables: { restartPolcy: 'x' }, properties: { anything: 'y' } };
    expect(warningsOf({ ...maps, $schema: './configuration.schema.json' })).toEqual([]);
  });

  it('of a body has no place', () => {
    expect(validateConfiguration('web', { command: 'x', ramMb: 5 }).warnings).toEqual([
      {
        line: null,
        column: null,
        field: 'ramMb',
        message: 'unknown field, has no effect; did you mean "ramMB"?',
      },
    ]);
  });
});

describe('%PORT% without availablePorts', () => {
  const STAYS = '%PORT% stays as it is: without availablePorts the instance has no port';

  it('leaves proxies without an address', () => {
    expect(warningsOf({ expose: { path: '/' } })).toEqual([
      expect.stringContaining('no proxy learns of its instances: without availablePorts they have no port'),
    ]);
  });

  it('is named in the command and in the environment', () => {
    expect(warningsOf({}, 'serve --port %PORT%')).toEqual([`2:13: command: ${STAYS}`]);
    expect(warningsOf({ environmentVariables: { HOST: 'x', LISTEN: ':%PORT%' } })).toEqual([
      `5:13: environmentVariables.LISTEN: ${STAYS}`,
    ]);
  });

  it('is no matter with ports, or in other words', () => {
    expect(warningsOf({ ...PORTS, environmentVariables: { A: '%PORT%' } }, 'serve %PORT%')).toEqual([]);
    expect(warningsOf({}, 'serve $PORT PORT% %PORTS%')).toEqual([]);
  });
});

it("a property with the name of one of Drover's variables has no effect", () => {
  expect(warningsOf({ properties: { MODE: 'x', RAM_MB: '5' } })).toEqual([
    "5:3: properties.RAM_MB: has no effect: %RAM_MB% is a variable of Drover's own",
  ]);
});

it('a variable that hostAddress cannot have stays as it is', () => {
  expect(warningsOf({ hostAddress: '%NODE_ID%.%ZONE%.example', properties: { ZONE: 'a' } })).toEqual([]);
  expect(warningsOf({ hostAddress: '%INSTANCE_ID%.example' })).toEqual([
    '3:17: hostAddress: %INSTANCE_ID% stays as it is: only properties, %NODE_ID%, %NODE_ADDRESS% and %HOST_ADDRESS% are replaced here',
  ]);
});

it.each([
  ['^C', 'SIGINT'],
  [' ^c ', 'SIGINT'],
  ['\u0003', 'SIGINT'],
  ['^\\', 'SIGQUIT'],
])('the stopCommand %j is text, and the signal is named', (stopCommand, signal) => {
  expect(warningsOf({ stopCommand })).toEqual([
    `3:17: stopCommand: is written to standard input as text, which is no signal: leave it out and write "stopSignal": "${signal}"`,
  ]);
  for (const plain of ['stop', 'c', '^Cx', '\\']) expect(warningsOf({ stopCommand: plain })).toEqual([]);
});

it('a variable in a field where none is replaced stays as it is', () => {
  const stays = (name: string) => `%${name}% stays as it is: variables are not replaced here`;
  const fields = { stopCommand: 'say %GREETING% %what%', properties: { GREETING: 'x' } };
  expect(warningsOf(fields)).toEqual([`3:17: stopCommand: ${stays('GREETING')}`]);
  expect(warningsOf({ readiness: { logLine: 'up as %INSTANCE_ID%' } })).toEqual([
    `4:14: readiness.logLine: ${stays('INSTANCE_ID')}`,
  ]);
  expect(warningsOf({ ...PORTS, readiness: { httpGet: { path: '/%NODE_ID%' } } })).toEqual([
    `9:12: readiness.httpGet.path: ${stays('NODE_ID')}`,
  ]);
});

it('warnings stand in the order of the file', () => {
  expect(
    warningsOf({ b: 1, properties: { CPU: '1' }, a: 2 }, '%PORT%').map((text) => text.split(': ')[1]),
  ).toEqual(['command', 'b', 'properties.CPU', 'a']);
});

it('passes over remarks at every level, in the hash too, and keeps them in what is written', () => {
  const $comment = { any: ['value'] };
  const remarked = {
    $comment,
    command: 'run %PORT%',
    availablePorts: { $comment, min: 1, max: 2 },
    environmentVariables: { $comment, A: '1' },
    readiness: { $comment, tcpPort: 5 },
    update: { $comment, strategy: 'rolling' },
    templateInstallationConfig: { allOf: [{ $comment, group: 'g', name: 't' }] },
  };
  const plain = JSON.parse(
    JSON.stringify(remarked, (key, value) => (key === '$comment' ? undefined : value)),
  );
  const { warnings, hash, content } = validateConfiguration('a', remarked);
  expect(warnings).toEqual([]);
  expect(hash).toBe(validateConfiguration('a', plain).hash);
  expect(content).toEqual(remarked);
  const text = JSON.stringify(remarked, null, 1);
  const changed = { ...plain, update: { strategy: 'idle' } };
  expect(editedText(text, changed)).toBe(text.replace('"rolling"', '"idle"'));
});
