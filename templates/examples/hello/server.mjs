// The example instance: a small HTTP server. Drover wrote its port, its id and the greeting into settings.json
// when it made this working directory; each line typed with `execute` arrives on standard input.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const settings = JSON.parse(readFileSync(new URL('settings.json', import.meta.url), 'utf8'));

const server = createServer((request, response) => {
  console.log(`${request.method} ${request.url}`);
  response.end(`${settings.greeting}, instance ${settings.instance} on port ${settings.port}\n`);
});

server.listen(Number(settings.port), '127.0.0.1', () => console.log(`listening on port ${settings.port}`));
createInterface({ input: process.stdin }).on('line', (line) => console.log(`you said: ${line}`));
process.on('SIGTERM', () => {
  console.log('stopping');
  process.exit(0);
});
