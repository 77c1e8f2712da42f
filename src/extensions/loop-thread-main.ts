/**
 * Entry of the thread that names an extension whose loop holds up the daemon, started by start-daemon.ts. It looks at the
 * daemon's own thread as a debugger does, and only when no beat has come for a while. It ends no loop.
 */
import { appendFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { pathToFileURL } from 'node:url';
import { answerJobs } from '../loop/worker-thread.js';

/** The daemon sends a beat each second. */
export interface Beat {
  /** The directory with the code of each extension, by its id. */
  readonly codes: ReadonlyMap<string, string>;
  /** The path of the daemon's log. This thread writes to it, because the daemon cannot. */
  readonly log: string;
}

/** How many beats have to be missing. They are counted, because a machine that was suspended has missed none. */
const MISSING = 5;

let missing = 0;
let beat: Beat | undefined;
answerJobs((next: Beat) => {
  missing = 0;
  beat = next;
});
// A chain of promises may be caught between two of the extension's functions, so each second is another try.
setInterval(() => ++missing >= MISSING && beat !== undefined && look(beat), 1000);

function look({ codes, log }: Beat): void {
  const session = new Session();
  const urls = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => urls.set(scriptId, url));
  session.on('Debugger.paused', ({ params: { callFrames } }) => {
    // The daemon's thread goes on from here.
    session.disconnect();
    for (const { location } of callFrames)
      for (const [extension, directory] of codes) {
        const [, file] = (urls.get(location.scriptId) ?? '').split(`${pathToFileURL(directory)}/`);
        if (file === undefined || missing < MISSING) continue;
        // The same loop is told again after an hour.
        missing = -3600;
        const msg = `extension ${extension}: a loop in its ${file}, line ${location.lineNumber + 1}, holds up Drover, which answers nobody until it ends; kill -9 ends Drover, and instances go on`;
        const entry = { level: 50, time: Date.now(), pid: process.pid, extension, msg };
        appendFileSync(log, `${JSON.stringify(entry)}\n`);
      }
  });
  session.connectToMainThread();
  session.post('Debugger.enable');
  session.post('Debugger.pause');
}
