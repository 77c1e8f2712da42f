/** A configuration with `null` in optional fields of every level, as clients of typed languages send it. */
export const NULL_FIELDS = {
  command: 'a',
  runtime: null,
  hostAddress: null,
  availablePorts: null,
  properties: null,
  nodes: null,
  update: null,
  readiness: null,
  ramMB: null,
  environmentVariables: { A: 'a', B: null },
  templateInstallationConfig: {
    allInGroups: null,
    allOf: [{ group: 'g', name: 't', storage: null, priority: null }],
  },
};
