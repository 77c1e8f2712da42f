/** The named ports of a configuration: what is refused, and what placement is asked for. */
import { describe, expect, it } from 'vitest';
import { validateConfiguration } from '../../../src/configuration-files/parse.js';
import { configurationSchema, unknownFields } from '../../../src/model/configuration.js';
import { messageOf } from '../../../src/model/errors.js';
import {
  isSamePort,
  ownPortsOf,
  portNeedsOf,
  portNumber,
  portsOf,
  portsText,
} from '../../../src/model/fields/ports.js';
import { instanceOf, toInstanceInfo, withEnd } from '../../../src/model/instance.js';
import { withPlace } from '../../../src/state/instance-changes.js';
import { leftOfInstance } from '../../../src/state/left-of-record.js';
import { instanceRecord, placedOn } from '../../support/control-plane/records.js';

const MAIN = { availablePorts: { min: 27_015, max: 27_019 } };
const OWN = {
  port: 27_015,
  ports: [
    { name: 'query', port: 27_016, protocol: 'udp' as const },
    { name: 'r-con', port: 27_020, protocol: 'tcp' as const },
  ],
};

function faultsOf(fields: object): string[] {
  try {
    validateConfiguration('ark', { command: 'run', ...fields });
    return [];
  } catch (error) {
    return [messageOf(error)];
  }
}

describe('named ports in a configuration', () => {
  it.each<[object, string]>([
    [{ ports: { main: { min: 1, max: 2 } } }, 'the port main is availablePorts'],
    [{ ports: { Query: { min: 1, max: 2 } } }, 'lower-case letters'],
    [{ ports: { query: {} } }, 'exactly one of: min with max, sameAs, next'],
    [{ ports: { query: { min: 1 } } }, 'exactly one of'],
    [{ ...MAIN, ports: { query: { min: 1, max: 2, next: 1 } } }, 'exactly one of'],
    [{ ports: { query: { min: 3, max: 2 } } }, 'ports.query.min: must not be greater than max'],
    [{ ports: { query: { min: 1, max: 2, protocol: 'sctp' } } }, 'ports.query.protocol'],
    [
      { ports: { a: { min: 1, max: 1 }, b: { min: 1, max: 1, protocol: 'udp' } } },
      'ports.b: must have a number that the other ports leave',
    ],
    [{ ports: { query: { next: 1 } } }, 'ports.query.next: must be min and max instead'],
    [{ ports: { query: { sameAs: 'main' } } }, 'ports.query.sameAs: must be min and max instead'],
    [
      { availablePorts: { min: 65_530, max: 65_535 }, ports: { query: { next: 1 } } },
      'ports.query.next: must not lead above 65535',
    ],
    [
      { ...MAIN, ports: { query: { next: 1, protocol: 'udp' }, rcon: { next: 1 } } },
      'ports.rcon.next: must not be that of ports.query',
    ],
    [
      { ...MAIN, readiness: { tcpPort: '%PORT_QUERY%' } },
      'readiness.tcpPort: must be a number, or the variable',
    ],
    [
      { ports: { query: { min: 1, max: 2, protocol: 'udp' } }, readiness: { tcpPort: '%PORT_QUERY%' } },
      'must be of a port with tcp: ports.query is udp',
    ],
    [
      { ports: { query: { min: 1, max: 2 } }, readiness: { httpGet: { path: '/' } } },
      'readiness.httpGet.port: must be a number, because without availablePorts',
    ],
    [{ sharePort: 'reuse' }, 'sharePort: must be left out: without availablePorts'],
    [{ ...MAIN, sharePort: 'inherit' }, 'sharePort'],
    [
      { ...MAIN, sharePort: 'reuse', runtime: 'docker' },
      'sharePort: needs the property dockerNetwork "host": an engine publishes a port for one container alone',
    ],
    [
      { ...MAIN, sharePort: 'reuse', readiness: { httpGet: { path: '/' } } },
      'readiness.httpGet.port: must be a port with a range of its own in "ports"',
    ],
    [
      { ...MAIN, sharePort: 'reuse', liveness: { tcpPort: '%PORT%' } },
      'liveness.tcpPort: must be a port with a range of its own',
    ],
    [
      { ...MAIN, sharePort: 'reuse', ports: { web: { next: 1 } }, liveness: { tcpPort: '%PORT_WEB%' } },
      'liveness.tcpPort: must be a port with a range of its own',
    ],
    [
      {
        ...MAIN,
        sharePort: 'reuse',
        runtime: 'docker',
        properties: { dockerNetwork: 'host' },
        readiness: { tcpPort: '%PORT%' },
      },
      'readiness.tcpPort: must be a port with a range of its own',
    ],
  ])('refuses %j', (fields, words) => {
    expect(faultsOf(fields).join('\n')).toContain(words);
  });

  it('takes a range, the number of main and its neighbour, and a check of any with tcp', () => {
    const ports = {
      query: { next: 1, protocol: 'udp' },
      voice: { sameAs: 'main', protocol: 'udp' },
      'r-con': { min: 27_020, max: 27_030, protocol: 'tcp' },
    };
    expect(faultsOf({ ...MAIN, ports, readiness: { tcpPort: '%PORT_R_CON%' } })).toEqual([]);
    expect(faultsOf({ ports: { query: { min: 1, max: 2 } } })).toEqual([]);
  });

  it('takes a shared main port, a check of its own socket there, and others at a port with a range of its own', () => {
    const ports = { health: { min: 27_020, max: 27_030 } };
    const checks = {
      readiness: { tcpPort: '%PORT%' },
      liveness: { httpGet: { path: '/', port: '%PORT_HEALTH%' } },
    };
    expect(faultsOf({ ...MAIN, sharePort: 'reuse', ports, ...checks })).toEqual([]);
    const docker = { runtime: 'docker', properties: { dockerNetwork: 'host' } };
    expect(faultsOf({ ...MAIN, sharePort: 'reuse', ...docker })).toEqual([]);
  });

  it('is a field that nodes of an older version do not know', () => {
    const content = configurationSchema.parse({
      name: 'ark',
      command: 'run',
      ports: { a: { min: 1, max: 2 } },
    });
    expect(unknownFields(content, ['limits'])).toEqual(['ports']);
  });
});

it('asks for main with its neighbours at once, and for the narrowest range first', () => {
  const { ports, availablePorts } = configurationSchema.parse({
    name: 'ark',
    command: 'run',
    ...MAIN,
    ports: { query: { next: 1, protocol: 'udp' }, rcon: { min: 27_020, max: 27_021 } },
  });
  expect(portNeedsOf({ ports, availablePorts })).toEqual([
    {
      name: 'rcon',
      min: 27_020,
      max: 27_021,
      protocol: 'both',
      group: [{ name: 'rcon', above: 0, protocol: 'both' }],
    },
    {
      name: 'main',
      protocol: 'both',
      ...MAIN.availablePorts,
      group: [
        { name: 'main', above: 0, protocol: 'both' },
        { name: 'query', above: 1, protocol: 'udp' },
      ],
    },
  ]);
});

describe('the ports that an instance has', () => {
  it('are told as one text beside the port of old clients, and are gone once it has ended by itself', () => {
    const record = withPlace(instanceRecord('abc123'), { ...placedOn('n1'), ...OWN });
    expect(record.home).toEqual({ nodeId: 'n1', ...OWN });
    expect(toInstanceInfo(record)).toMatchObject({
      allocatedPort: 27_015,
      ports: 'query=27016/udp r-con=27020/tcp',
    });
    const ended = withEnd(
      {
        ...record,
        desired: { goal: 'stop', restartToken: 0, stoppedBy: 'instance' },
        status: { ...record.status, reason: 'stopped' },
      },
      5,
    );
    expect(Object.keys(toInstanceInfo(ended))).not.toContain('ports');
    expect(portsOf(ended.placement ?? {})).toEqual([]);
    expect(toInstanceInfo(instanceOf(instanceRecord('abc124')))).not.toHaveProperty('ports');
  });

  it('can be read of a record that is set aside', () => {
    const placement = { ...placedOn('n1'), ...OWN };
    expect(leftOfInstance({ placement }).placement).toMatchObject(OWN);
    expect(leftOfInstance({ placement: { ...placement, ports: 7 } }).placement).toMatchObject({
      port: 27_015,
    });
  });

  it('come back as they were, and answer for their variables', () => {
    expect(ownPortsOf(portsOf(OWN))).toEqual(OWN);
    expect(ownPortsOf([])).toEqual({ port: null });
    expect(portsText({ port: 1 })).toBeUndefined();
    expect(
      ['%PORT%', '%PORT_QUERY%', '%PORT_R_CON%', '%PORT_X%', 80].map((one) => portNumber(one, OWN)),
    ).toEqual([27_015, 27_016, 27_020, null, 80]);
  });

  it.each([
    ['tcp', 'udp', false],
    ['tcp', 'both', true],
    ['both', 'udp', true],
    ['udp', 'udp', true],
  ] as const)('of %s and %s collide: %s', (a, b, expected) => {
    expect(isSamePort({ port: 1, protocol: a }, { port: 1, protocol: b })).toBe(expected);
    expect(isSamePort({ port: 1, protocol: a }, { port: 2, protocol: b })).toBe(false);
  });
});
