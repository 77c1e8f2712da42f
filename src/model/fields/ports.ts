/**
 * The named ports of an instance, beside its main one: what a configuration asks for, and what placement gave. The
 * main port stands in fields of its own (`availablePorts`, `placement.port`); here it is the port `main`.
 */
import { z } from 'zod';
import { portSchema } from '../names.js';

const MOST_PORTS = 16;
const LARGEST_PORT = 65_535;
const MAIN = 'main';

export const portProtocolSchema = z.enum(['tcp', 'udp']);
export type PortProtocol = z.output<typeof portProtocolSchema>;
const protocolsSchema = z.enum([...portProtocolSchema.options, 'both']);
export type Protocols = z.output<typeof protocolsSchema>;

const portNameSchema = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{0,31}$/,
    'must hold only lower-case letters, digits and "-" (32 at most), a letter first',
  )
  .refine((name) => name !== MAIN, { error: 'must have another name: the port main is availablePorts' });

/** Exactly one of a range, `sameAs` and `next`. */
const wantedPortSchema = z
  .object({
    min: portSchema.optional(),
    max: portSchema.optional(),
    sameAs: z.literal(MAIN).optional(),
    next: z.int().min(1).max(16).optional(),
    protocol: protocolsSchema.default('both'),
  })
  .refine(
    ({ min, max, sameAs, next }) =>
      (min === undefined) === (max === undefined) &&
      [min, sameAs, next].filter((one) => one !== undefined).length === 1,
    { error: 'must hold exactly one of: min with max, sameAs, next' },
  )
  .refine(({ min = 0, max = min }) => min <= max, { path: ['min'], error: 'must not be greater than max' });

export const wantedPortsSchema = z
  .record(portNameSchema, wantedPortSchema)
  .refine((ports) => Object.keys(ports).length <= MOST_PORTS, {
    error: `must have at most ${MOST_PORTS} entries`,
  });

export const sharePortSchema = z
  .enum(['reuse'])
  .describe(
    '`reuse`: its instances on one node have the same main port, each a socket of its own (`SO_REUSEPORT`)',
  );

export const namedPortsSchema = z.array(
  z.object({
    name: z.string(),
    port: portSchema,
    protocol: protocolsSchema,
    sharedBy: z
      .string()
      .optional()
      .describe('the configuration whose instances on the node share the port; absent: it is its own'),
  }),
);
export type NamedPorts = z.output<typeof namedPortsSchema>;
export type NamedPort = NamedPorts[number];

/** The ports that an instance has: `port` is the main one; `ports` are the named ones, absent where there are none. */
export interface OwnPorts {
  readonly port?: number | null | undefined;
  readonly ports?: NamedPorts | undefined;
  /** The configuration whose instances on the node share the main port. Absent: the port is its own. */
  readonly sharedBy?: string | undefined;
}

/** All ports of an instance, the main one first. The main port is held for both protocols. */
export function portsOf({ port, ports = [], sharedBy }: OwnPorts): readonly NamedPort[] {
  return port == null ? ports : [withSharer({ name: MAIN, port, protocol: 'both' }, sharedBy), ...ports];
}

/** The port, shared by the instances of a configuration. Undefined: the port is its own. */
export function withSharer(port: NamedPort, sharedBy: string | undefined): NamedPort {
  return sharedBy === undefined ? port : { ...port, sharedBy };
}

/** The fields of a record for these ports, the named ones by name. */
export function ownPortsOf(all: readonly NamedPort[]) {
  const ports = all.filter(({ name }) => name !== MAIN).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const { port = null, sharedBy } = all.find(({ name }) => name === MAIN) ?? {};
  return { port, ...(ports.length > 0 && { ports }), ...(sharedBy !== undefined && { sharedBy }) };
}

export function protocolsOf(protocol: Protocols): readonly PortProtocol[] {
  return protocol === 'both' ? portProtocolSchema.options : [protocol];
}

/** True when two programs cannot have both ports under one address. */
export function isSamePort(a: Omit<NamedPort, 'name'>, b: Omit<NamedPort, 'name'>): boolean {
  return a.port === b.port && (a.protocol === b.protocol || [a.protocol, b.protocol].includes('both'));
}

/** `PORT` for the main port, `PORT_QUERY` for the port `query`. */
export function portVariable(name: string): string {
  return name === MAIN ? 'PORT' : `PORT_${name.toUpperCase().replaceAll('-', '_')}`;
}

/** The number that a field of a readiness check means; null: the instance has no such port. */
export function portNumber(field: number | string, own: OwnPorts): number | null {
  if (typeof field === 'number') return field;
  return portsOf(own).find(({ name }) => `%${portVariable(name)}%` === field)?.port ?? null;
}

/** `query=27016/udp rcon=27020/tcp`; undefined: the instance has no named port. */
export function portsText({ ports = [] }: OwnPorts): string | undefined {
  const texts = ports.map(({ name, port, protocol }) => `${name}=${port}/${protocol}`);
  return texts.length === 0 ? undefined : texts.join(' ');
}

/** A search of placement for a free number of the range, with the ports that are counted from it. */
export interface PortNeed {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly protocol: Protocols;
  /** The configuration whose instances on one node share these ports. Undefined: they are its own. */
  readonly sharedBy?: string | undefined;
  /** The port itself comes first. Each port is `above` the number that is chosen. */
  readonly group: readonly { readonly name: string; readonly above: number; readonly protocol: Protocols }[];
}

interface WantedPorts {
  readonly name?: string;
  readonly sharePort?: z.output<typeof sharePortSchema> | undefined;
  readonly availablePorts?: { readonly min: number; readonly max: number } | undefined;
  readonly ports?: z.output<typeof wantedPortsSchema> | undefined;
}

/** The needs of a configuration. The narrowest range chooses first: a wider one has other numbers left. */
export function portNeedsOf(wanted: WantedPorts): readonly PortNeed[] {
  const { availablePorts, ports = {} } = wanted;
  const main = { name: MAIN, protocol: 'both' } as const;
  const beside: PortNeed['group'][number][] = [{ ...main, above: 0 }];
  const sharedBy = wanted.sharePort && wanted.name;
  const needs: PortNeed[] =
    availablePorts === undefined ? [] : [{ ...main, ...availablePorts, sharedBy, group: beside }];
  for (const [name, { min, max = min, next: above = 0, protocol }] of Object.entries(ports)) {
    const one = { name, above, protocol };
    if (min === undefined || max === undefined) beside.push(one);
    else needs.push({ name, min, max, protocol, group: [one] });
  }
  return needs.toSorted((a, b) => a.max - a.min - (b.max - b.min));
}

/** The faults of ports that are counted from the main one, or leave each other no number, each with its path. */
export function* portFaults(wanted: WantedPorts): Generator<[string[], string]> {
  const { availablePorts, ports = {}, sharePort } = wanted;
  if (sharePort !== undefined && availablePorts === undefined)
    yield [['sharePort'], 'must be left out: without availablePorts there is no port to share'];
  const numbers = new Map<string, Omit<NamedPort, 'name'>>();
  for (const [name, { min, next = 0, protocol }] of Object.entries(ports)) {
    if (min !== undefined) continue;
    const path = ['ports', name, next === 0 ? 'sameAs' : 'next'];
    const other = [...numbers].find(([, one]) => next > 0 && isSamePort(one, { port: next, protocol }))?.[0];
    numbers.set(name, { port: next, protocol });
    if (availablePorts === undefined)
      yield [path, 'must be min and max instead: without availablePorts there is no port main'];
    else if (availablePorts.max + next > LARGEST_PORT)
      yield [path, `must not lead above ${LARGEST_PORT}: lower it or availablePorts.max`];
    else if (other !== undefined)
      yield [
        path,
        `must not be that of ports.${other}: both would be one port; set another next or protocol`,
      ];
  }
  const chosen: Omit<NamedPort, 'name'>[] = [];
  for (const { name, min, max, group } of portNeedsOf(wanted)) {
    const at = (number: number) => group.map(({ above, protocol }) => ({ port: number + above, protocol }));
    const isTaken = (number: number) => at(number).some((a) => chosen.some((b) => isSamePort(a, b)));
    let number = min;
    while (number <= max && isTaken(number)) number++;
    if (min <= max && number > max)
      yield [
        name === MAIN ? ['availablePorts'] : ['ports', name],
        'must have a number that the other ports leave: widen it, or set another protocol',
      ];
    chosen.push(...at(number));
  }
}

/** Why a check cannot ask at `field`, a number or `%PORT...%`; undefined: it can. `mayShare`: it tells its own socket. */
export function ownPortFault(
  field: number | string,
  { availablePorts, ports = {}, sharePort }: WantedPorts,
  mayShare: boolean,
): string | undefined {
  if (typeof field === 'number') return undefined;
  const [name, port] = Object.entries(ports).find(([one]) => `%${portVariable(one)}%` === field) ?? [];
  if (sharePort !== undefined && !mayShare && (field === '%PORT%' || (port && port.min === undefined)))
    return 'must be a port with a range of its own in "ports": the instances share this one, so another may answer';
  if (field === '%PORT%' && availablePorts !== undefined) return undefined;
  if (field === '%PORT%')
    return 'must be a number, because without availablePorts the instance has no port of its own';
  if (port === undefined) return `must be a number, or the variable of a port: "ports" has none for ${field}`;
  return port.protocol === 'udp' ? `must be of a port with tcp: ports.${name} is udp` : undefined;
}
