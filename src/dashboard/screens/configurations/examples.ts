/** The examples for a new configuration. The editor shows the fields in this order, so it is an order for readers. */
import type { text } from './text.js';

type ExampleName = keyof typeof text.examples;

const EXAMPLES: Readonly<Record<ExampleName, object>> = {
  game: {
    command: 'java -Xmx1536m -jar server.jar nogui --port %PORT%',
    ramMB: 2048,
    cpu: 100,
    minimumServiceCount: 1,
    availablePorts: { min: 25565, max: 25599 },
    stopCommand: 'stop',
    stopTimeoutSeconds: 60,
    readiness: { logLine: 'Done (*)! For help', timeoutSeconds: 120 },
    templateInstallationConfig: { allOf: [{ group: 'games', name: 'survival' }] },
  },
  web: {
    runtime: 'process',
    command: 'python3 -m http.server %PORT%',
    ramMB: 128,
    cpu: 50,
    minimumServiceCount: 2,
    availablePorts: { min: 8100, max: 8199 },
    readiness: { httpGet: { path: '/' } },
  },
  worker: {
    runtime: 'process',
    command: 'while true; do echo "$GREETING at $(date)"; sleep 10; done',
    ramMB: 64,
    cpu: 10,
    minimumServiceCount: 1,
    environmentVariables: { GREETING: 'hello' },
  },
  container: {
    runtime: 'docker',
    command: 'nginx -g "daemon off;"',
    ramMB: 128,
    cpu: 50,
    minimumServiceCount: 1,
    properties: { image: 'nginx:stable' },
  },
  empty: { command: '', minimumServiceCount: 1 },
};

/** The text of an example; undefined: there is no such example. */
export function exampleText(example: string, name: string): string | undefined {
  const found = Object.entries(EXAMPLES).find(([key]) => key === example)?.[1];
  return found && textOf({ name, ...found });
}

/** A content as text, as the editor shows it and as Drover writes files. */
export function textOf(content: object): string {
  return `${JSON.stringify(content, null, 2)}\n`;
}
