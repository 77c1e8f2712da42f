import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildVariables,
  substitute,
  substituteBytes,
  type VariableFacts,
} from '../../../src/runtime/command/variables.js';

const facts: VariableFacts = {
  instance: { id: 'abc123', port: 25_565, hostAddress: 'play.example' },
  configuration: { name: 'lobby', ramMB: 512, cpu: 50, properties: { MOTD: 'hello', 'a.b-c': 'dotted' } },
  workingDirectory: '/srv/drover/running/abc123',
  node: { nodeId: 'n1', address: '10.0.0.2' },
  master: { address: 'master.example', ip: '10.0.0.1', port: 6000, apiPort: 7000 },
};
const variables = buildVariables(facts);

describe('buildVariables', () => {
  it('holds every variable of the design and the properties', () => {
    expect(Object.fromEntries(variables)).toEqual({
      PORT: '25565',
      INSTANCE_ID: 'abc123',
      CONFIGURATION_NAME: 'lobby',
      NODE_ID: 'n1',
      HOST_ADDRESS: 'play.example',
      NODE_ADDRESS: '10.0.0.2',
      MASTER_ADDRESS: 'master.example',
      MASTER_IP: '10.0.0.1',
      MASTER_PORT: '6000',
      MASTER_API_PORT: '7000',
      WORKING_DIRECTORY: '/srv/drover/running/abc123',
      RAM_MB: '512',
      CPU: '50',
      MOTD: 'hello',
      'a.b-c': 'dotted',
    });
  });

  it('never lets a property take a built-in name', () => {
    const properties = { INSTANCE_ID: 'evil', PORT: '1', MOTD: 'x' };
    const built = buildVariables({
      ...facts,
      instance: { ...facts.instance, port: null },
      configuration: { ...facts.configuration, properties },
    });
    expect(built.get('INSTANCE_ID')).toBe('abc123');
    expect(built.has('PORT')).toBe(false);
  });

  it('leaves %PORT% as it stands without a port', () => {
    const portless = buildVariables({ ...facts, instance: { ...facts.instance, port: null } });
    expect(substitute('--port %PORT% %CPU%', portless)).toBe('--port %PORT% 50');
  });
});

describe('substitute', () => {
  it.each([
    ['port=%PORT%;id=%INSTANCE_ID%', 'port=25565;id=abc123'],
    ['%UNKNOWN% %PORT%', '%UNKNOWN% 25565'],
    ['100%PORT%', '10025565'],
    ['%x%PORT%', '%x25565'],
    ['%PORT%PORT%', '25565PORT%'],
    ['%%PORT%%', '%25565%'],
    ['%a.b-c%', 'dotted'],
    ['% PORT % %port%', '% PORT % %port%'],
    ['', ''],
  ])('turns %j into %j', (text, expected) => {
    expect(substitute(text, variables)).toBe(expected);
    expect(substituteBytes(Buffer.from(text), variables).toString()).toBe(expected);
  });

  it('is one pass and literal: what a value holds is never replaced again', () => {
    const value = fc.string({
      unit: fc.constantFrom('%', 'A', 'B', '$', '(', ')', '\n', '"', 'ä', '\\', '&'),
    });
    const text = fc.array(fc.oneof(fc.constantFrom('%A%', '%B%', '%C%', '%', 'A%'), fc.string()));
    fc.assert(
      fc.property(value, value, text, (a, b, parts) => {
        const whole = parts.join('');
        const marked = substitute(
          whole,
          new Map([
            ['A', '\u0001'],
            ['B', '\u0002'],
          ]),
        );
        fc.pre(!/[\u0001\u0002]/.test(whole));
        const expected = marked.replace(/\u0001|\u0002/g, (mark) => (mark === '\u0001' ? a : b));
        const given = new Map([
          ['A', a],
          ['B', b],
        ]);
        expect(substitute(whole, given)).toBe(expected);
      }),
    );
  });

  it('gives the same for bytes as for text', () => {
    const piece = fc.oneof(
      fc.constantFrom('%A%', '%', 'A', '%unknown%', '%A'),
      fc.string({ unit: 'grapheme' }),
    );
    fc.assert(
      fc.property(fc.array(piece), fc.string({ unit: 'grapheme' }), (parts, value) => {
        const text = parts.join('');
        const given = new Map([['A', value]]);
        expect(substituteBytes(Buffer.from(text), given).toString()).toBe(substitute(text, given));
      }),
    );
  });
});

describe('substituteBytes', () => {
  it('keeps bytes that are no UTF-8', () => {
    const before = Buffer.concat([
      Buffer.from([0xff, 0x00, 0xe4]),
      Buffer.from('%PORT%'),
      Buffer.from([0xfe, 0x25]),
    ]);
    const after = Buffer.concat([
      Buffer.from([0xff, 0x00, 0xe4]),
      Buffer.from('25565'),
      Buffer.from([0xfe, 0x25]),
    ]);
    expect(substituteBytes(before, variables)).toEqual(after);
  });

  it('hands back the same buffer when there is nothing to replace', () => {
    const bytes = Buffer.from('100 % of %NOTHING%');
    expect(substituteBytes(bytes, variables)).toBe(bytes);
  });
});
