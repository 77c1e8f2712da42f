/** The fields on stop, restart and readiness: what they accept, and what they mean. */
import { describe, expect, it } from 'vitest';
import { validateConfiguration } from '../../../src/configuration-files/parse.js';
import { linePattern } from '../../../src/logs/search/line-pattern.js';
import { configurationSchema, hashConfiguration } from '../../../src/model/configuration.js';
import { DEFAULT_STOP, isRestarted, stopSettingsOf } from '../../../src/model/stopping.js';

const BASE = { name: 'lobby', command: 'run' };
const PORTS = { availablePorts: { min: 1, max: 2 } };

function judge(fields: object): string {
  try {
    validateConfiguration('lobby', { ...BASE, ...fields });
    return 'accepted';
  } catch (error) {
    return error instanceof Error ? error.message : 'no error';
  }
}

describe('the fields of stop, restart, placement and readiness', () => {
  it.each<[object]>([
    [{ stopCommand: '\u0003' }],
    [{ stopCommand: 'é'.repeat(2000) }],
    [{ stopSignal: 'SIGKILL', stopTimeoutSeconds: 0 }],
    [{ stopSignal: 'SIGQUIT', stopTimeoutSeconds: 3600 }],
    [{ restartPolicy: 'on-failure' }],
    [{ placement: 'pack' }],
    [{ readiness: { logLine: 'Done (*)! $^.+\\' } }],
    [{ readiness: { tcpPort: 1, timeoutSeconds: 86_400, intervalSeconds: 0.1 } }],
    [{ readiness: { tcpPort: '%PORT%' }, ...PORTS }],
    [{ readiness: { httpGet: { path: '/' } }, ...PORTS }],
    [{ readiness: { httpGet: { path: '/a?b=%20', port: 65_535 } } }],
  ])('accept %j', (fields) => {
    expect(judge(fields)).toBe('accepted');
  });

  it.each<[object, string]>([
    [{ stopCommand: '' }, 'stopCommand: must be a text that is not empty'],
    [{ stopCommand: 'é'.repeat(2001) }, 'stopCommand: must be at most 4000 bytes'],
    [{ stopCommand: 'save\nquit' }, 'stopCommand: must be one line'],
    [{ stopSignal: 'SIGSTOP' }, 'stopSignal: must be one of "SIGTERM", "SIGINT"'],
    [{ stopTimeoutSeconds: 3601 }, 'stopTimeoutSeconds: must be a whole number from 0 to 3600'],
    [{ stopTo: 'group' }, 'stopTo: must be one of "main", "all"'],
    [{ stopTo: 'all', runtime: 'docker' }, 'stopTo: must be main: the runtime docker can signal'],
    [{ stopTimeoutSeconds: 1.5 }, 'stopTimeoutSeconds: must be a whole number'],
    [{ restartPolicy: 'sometimes' }, 'restartPolicy: must be one of "always", "on-failure", "never"'],
    [{ placement: 'tight' }, 'placement: must be one of "spread", "pack"'],
    [{ readiness: {} }, 'readiness: must hold exactly one of logLine, tcpPort, httpGet'],
    [{ readiness: { logLine: 'a', tcpPort: 1 } }, 'readiness: must hold exactly one of'],
    [{ readiness: { logline: 'a' } }, 'readiness: must hold exactly one of logLine, tcpPort, httpGet'],
    [{ readiness: { logLine: ' ** ' } }, 'readiness.logLine: must hold more than "*" and spaces'],
    [{ readiness: { logLine: 'a\u001bb' } }, 'readiness.logLine: must be one line'],
    [{ readiness: { logLine: 'a'.repeat(201) } }, 'readiness.logLine: must be a text of 1 to 200'],
    [{ readiness: { tcpPort: 0 } }, 'readiness.tcpPort: must be a whole number from 1 to 65535 or "%PORT%"'],
    [
      { readiness: { tcpPort: '%PORT%' } },
      'readiness.tcpPort: must be a number, because without availablePorts',
    ],
    [{ readiness: { httpGet: { path: '/' } } }, 'readiness.httpGet.port: must be a number, because'],
    [{ readiness: { httpGet: { path: 'a' } }, ...PORTS }, 'readiness.httpGet.path: must begin with "/"'],
    [{ readiness: { httpGet: { path: '/a b' } }, ...PORTS }, 'readiness.httpGet.path: must begin with "/"'],
    [{ readiness: { httpGet: { path: '/a\r\nx: y' } }, ...PORTS }, 'readiness.httpGet.path: must begin'],
    [{ readiness: { tcpPort: 1, timeoutSeconds: 0 } }, 'readiness.timeoutSeconds: must be a whole number'],
    [
      { readiness: { tcpPort: 1, intervalSeconds: 0 } },
      'readiness.intervalSeconds: must be a number from 0.1',
    ],
  ])('refuse %j with the field and what it must be', (fields, message) => {
    expect(judge(fields)).toContain(message);
  });

  it('leave the hash of a configuration that does without them as earlier versions had it', () => {
    const configuration = configurationSchema.parse(BASE);
    expect(Object.keys(configuration)).not.toContain('stopCommand');
    expect(hashConfiguration(configuration)).toBe('acb22c1c354f7da8ab5465ef75e2c5f3');
  });

  it('mean SIGTERM, ten seconds, no command and always when they are absent', () => {
    expect(stopSettingsOf(configurationSchema.parse(BASE))).toEqual(DEFAULT_STOP);
    expect(DEFAULT_STOP).toEqual({
      command: null,
      signal: 'SIGTERM',
      timeoutMs: 10_000,
      leaveMs: 0,
      to: 'main',
    });
    expect(isRestarted(undefined, { code: 0 })).toBe(true);
  });
});

describe('the pattern of a log line', () => {
  it.each<[string, string, boolean]>([
    ['Done', 'server: Done (3 s)', true],
    ['Done', 'server: done', false],
    ['Done (*)!', 'Done (4.2 s)! For help', true],
    ['Done (*)!', 'Done )!(', false],
    ['*Done*', 'Done', true],
    ['a*b*a', 'a b', false],
    ['a**b', 'ab', true],
    ['.+[a]$', 'xa', false],
    ['.+[a]$', 'it is .+[a]$ here', true],
    ['Listening on', '\u001b[1;32mListen\u001b[0ming on\r', true],
    ['é ready', 'é ready', true],
  ])('%s in %j: %s', (pattern, line, expected) => {
    expect(linePattern(pattern)(line)).toBe(expected);
  });

  it('looks behind a progress bar, at what a terminal shows in the end', () => {
    const matches = linePattern('Server ready');
    const bar = '\r[ 10%] downloading'.repeat(1200);
    expect(matches(`${bar}\r\u001b[2KServer ready`)).toBe(true);
    expect(matches(`${bar}\rServer ready\r`)).toBe(true);
    expect(matches(`${bar}\rServer ready${bar}`)).toBe(false);
    expect(linePattern('*Server*ready*')(`${bar}\rServer is ready`)).toBe(true);
  });

  it('looks at the beginning of a line that never ends, only', () => {
    const matches = linePattern('ready');
    expect(matches(`${' '.repeat(8000)}ready`)).toBe(true);
    expect(matches(`${' '.repeat(60_000)}ready`)).toBe(false);
  });
});
