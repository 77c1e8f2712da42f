/**
 * Composes the complete environment of an instance's process. Only a short list of the daemon's own variables passes,
 * so that no token, proxy or NODE_OPTIONS of the daemon reaches an instance by accident.
 */
import type { Configuration } from '../../model/configuration.js';
import { type OwnPorts, portsOf, portVariable } from '../../model/fields/ports.js';
import { substitute, type Variables } from './variables.js';

const INHERITED = /^(PATH|HOME|USER|LANG|LC_[A-Z]+|TZ|SHELL|TERM)$/;
/** Nobody sits at the terminal of an instance, so a pager would wait for ever. Git has a setting of its own before PAGER. */
const NO_PAGER = Object.entries({ PAGER: 'cat', GIT_PAGER: 'cat' });
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export interface EnvironmentFacts {
  /**
   * The daemon's environment, `process.env`; null: pass nothing on and set no PATH (a container has its image's PATH).
   */
  readonly inherited: Readonly<Record<string, string | undefined>> | null;
  readonly configuration: Pick<Configuration, 'name' | 'environmentVariables'>;
  readonly instance: OwnPorts & { readonly id: string };
  readonly nodeId: string;
  /** The base URL of the API as the instance reaches it, such as `http://10.0.0.1:7000/api`. */
  readonly apiUrl: string;
  /**
   * The path of the PEM with which the instance checks the API's certificate; undefined: no TLS, or a certificate that
   * the operator brought.
   */
  readonly apiAuthority?: string | undefined;
  /** The key with which the instance may PUT its own state. */
  readonly apiKey: string;
  readonly variables: Variables;
  /** The environment that `substituteCommand` returned: the values in the command. */
  readonly commandVariables: Readonly<Record<string, string>>;
}

/**
 * Merges the sources; later ones win: inherited, configured (variables replaced), Drover's own, `commandVariables`.
 * PORT and DROVER_PORT are set only when the instance has a port; otherwise a configured PORT stays.
 */
export function buildEnvironment(facts: EnvironmentFacts): Record<string, string> {
  const { configuration, instance, variables } = facts;
  const ports = portsOf(instance).map(
    ({ name, port }) => [`DROVER_${portVariable(name)}`, `${port}`] as const,
  );
  // Use fromEntries: an assignment to a variable named `__proto__` would be lost.
  return Object.fromEntries([
    ...(facts.inherited === null
      ? []
      : [['PATH', DEFAULT_PATH] as const, ...NO_PAGER, ...inheritedFrom(facts.inherited)]),
    ...Object.entries(configuration.environmentVariables).map(
      ([name, value]) => [name, substitute(value, variables)] as const,
    ),
    ['DROVER_INSTANCE_ID', instance.id],
    ['DROVER_CONFIGURATION', configuration.name],
    ['DROVER_NODE_ID', facts.nodeId],
    ['DROVER_API_URL', facts.apiUrl],
    ['DROVER_API_KEY', facts.apiKey],
    ...(facts.apiAuthority === undefined ? [] : [['DROVER_API_CA', facts.apiAuthority] as const]),
    ...ports,
    ...(instance.port == null ? [] : [['PORT', `${instance.port}`] as const]),
    ...Object.entries(facts.commandVariables),
  ]);
}

function* inheritedFrom(
  environment: NonNullable<EnvironmentFacts['inherited']>,
): Generator<readonly [string, string]> {
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && value !== '' && INHERITED.test(name)) yield [name, value];
  }
}
