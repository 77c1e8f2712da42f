/**
 * The addresses of what serves, in the forms that proxies and monitoring read. An instance leaves them when its stop or
 * restart is asked for. In a rollout both contents are there: a canary alone could not carry all requests. Pure.
 */

import type { Expose } from '../model/fields/expose.js';
import { portVariable } from '../model/fields/ports.js';
import { type InstanceRecord, isServing } from '../model/instance.js';
import { hostPort } from '../model/plain/host-port.js';
import type { Reads } from './reads.js';

export interface Endpoint {
  readonly id: string;
  readonly configuration: string;
  readonly node: string;
  /** `host:port`; an IPv6 address stands in brackets. */
  readonly address: string;
  /** The numbers of the named ports, by name. */
  readonly ports: Readonly<Record<string, number>>;
}

/** The endpoints of one configuration, in order of their ids. */
export function endpointsOf(needs: Reads, configuration: string): Endpoint[] {
  const records = [...needs.instancesByConfiguration.get(configuration)].flatMap(
    (id) => needs.instances.get(id)?.value ?? [],
  );
  return records
    .filter(isStaying)
    .flatMap(({ id, placement }) => {
      if (placement === null || placement.port === null) return [];
      const { nodeId: node, hostAddress, port, ports: named = [] } = placement;
      const ports = Object.fromEntries(named.map((one) => [one.name, one.port]));
      return [{ id, configuration, node, address: hostPort(hostAddress, port), ports }];
    })
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The endpoints without those that share the address of another one: a proxy needs each address once. */
export function byAddress(endpoints: readonly Endpoint[]): Endpoint[] {
  const first = new Map(endpoints.toReversed().map((one) => [one.address, one]));
  return endpoints.filter((one) => first.get(one.address) === one);
}

function isStaying(record: InstanceRecord): boolean {
  const { desired, status } = record;
  return isServing(record) && desired.goal === 'run' && !status.awaitsRestart && status.reason !== 'stopping';
}

/** The groups of targets that Prometheus reads by `http_sd_configs`. */
export function prometheusOf(endpoints: readonly Endpoint[]) {
  return endpoints.map(({ id, configuration, node, address, ports }) => ({
    targets: [address],
    labels: {
      __meta_drover_configuration: configuration,
      __meta_drover_instance: id,
      __meta_drover_node: node,
      ...Object.fromEntries(
        Object.entries(ports).map(([name, port]) => [
          `__meta_drover_${portVariable(name).toLowerCase()}`,
          `${port}`,
        ]),
      ),
    },
  }));
}

/** A configuration with an `expose` block, and its endpoints. */
export interface Exposed {
  readonly name: string;
  readonly expose: Expose;
  readonly endpoints: readonly Endpoint[];
}

/** All exposed configurations that `sees` lets pass, by name. */
export function exposedOf(needs: Reads, sees: (name: string) => boolean): Exposed[] {
  return [...needs.configurations.entries()]
    .flatMap(([name, { value }]) => {
      const { expose } = value.configuration;
      return expose === undefined || !sees(name)
        ? []
        : [{ name, expose, endpoints: byAddress(endpointsOf(needs, name)) }];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The dynamic configuration that Traefik reads by its HTTP provider. It refuses empty groups, which are left out. */
export function traefikOf(exposed: readonly Exposed[]) {
  const served = exposed.filter(({ endpoints }) => endpoints.length > 0);
  if (served.length === 0) return {};
  return {
    http: {
      routers: Object.fromEntries(
        served.map(({ name, expose }) => [name, { rule: traefikRule(expose), service: name }]),
      ),
      services: Object.fromEntries(
        served.map(({ name, endpoints }) => [
          name,
          { loadBalancer: { servers: endpoints.map(({ address }) => ({ url: `http://${address}` })) } },
        ]),
      ),
    },
  };
}

function traefikRule({ host, path }: Expose): string {
  const ofHost = host?.startsWith('*.')
    ? `HostRegexp(\`^[^.]+\\.${host.slice(2).replaceAll('.', '\\.')}$\`)`
    : host === undefined
      ? []
      : `Host(\`${host}\`)`;
  return [ofHost, path === undefined ? [] : `PathPrefix(\`${path}\`)`].flat().join(' && ');
}

/** The backends of HAProxy, one for each exposed configuration, to be included in its configuration. */
export function haproxyOf(exposed: readonly Exposed[]): string {
  return exposed
    .map(({ name, endpoints }) =>
      [
        `backend ${name}`,
        '    balance roundrobin',
        ...endpoints.map(({ id, address }) => `    server ${id} ${address} check`),
        '',
      ].join('\n'),
    )
    .join('\n');
}
