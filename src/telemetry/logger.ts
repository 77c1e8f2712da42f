/**
 * The daemon's own log: JSON lines in logs/drover.log, readable lines on a terminal. It writes in this process and
 * synchronously. So a line is on its way to the disk before the decision is acted on, and no worker thread costs
 * memory.
 */
import { type Logger as PinoLogger, pino } from 'pino';
import { RotatingFile } from './rotating-file.js';
import { HIDDEN, hideSecrets, hideTokens, SECRET_FIELDS } from './secret-fields.js';
import { SourceStacks } from './source-stack.js';

const MAX_FILE_BYTES = 8 * 1024 * 1024;
const FILES = 4;

/** The logger that all parts use. `child({ ... })` adds fields. Never pass tokens or environment values. */
export type Logger = Pick<PinoLogger, 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'child'>;

type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

/** The stream for readable lines, coloured when it is a TTY. */
export interface LogTerminal {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export interface LoggerOptions {
  /** The absolute path of the JSON log, which is kept to 4 files of 8 MiB. */
  readonly file: string;
  /** `true`: write to standard output too. `false`: write to the file only. */
  readonly terminal: boolean | LogTerminal;
  readonly level: LogLevel;
}

export interface OpenLogger {
  readonly logger: Logger;
  /** Ends the output on the terminal; later lines go to the file only. Idempotent. */
  closeTerminal(): void;
  /** Closes the file; later lines reach the terminal at best. Idempotent. */
  close(): void;
}

/**
 * Opens the log file. Throws when it cannot be opened. A disk that fills up later only loses lines, which are counted.
 */
export async function createLogger(options: LoggerOptions): Promise<OpenLogger> {
  const { file: path, level } = options;
  const file = new RotatingFile({ path, maxBytes: MAX_FILE_BYTES, files: FILES, lostLine, removedLine });
  let terminal = await openTerminal(options.terminal);
  const write = (line: string): void => {
    const safe = hideTokens(line);
    file.write(safe);
    terminal?.show(safe);
  };
  const logger = pino(
    {
      level,
      base: { pid: process.pid },
      formatters: { log: (fields) => hideSecrets(fields) },
      // Formatters do not see the fields of `child`; serializers see them.
      serializers: {
        ...Object.fromEntries([...SECRET_FIELDS].map((name) => [name, () => HIDDEN])),
        err: errorSerializer(),
      },
    },
    { write },
  );
  const closeTerminal = (): void => {
    terminal?.close();
    terminal = undefined;
  };
  const close = (): void => {
    file.close();
    closeTerminal();
  };
  return { logger, closeTerminal, close };
}

/** Like pino's own serializer, but with Drover's source files in the stack. */
function errorSerializer(): (error: Error) => unknown {
  const stacks = new SourceStacks();
  return (error) => {
    const fields = pino.stdSerializers.err(error);
    return typeof fields.stack === 'string' ? { ...fields, stack: stacks.translate(fields.stack) } : fields;
  };
}

function lostLine(lines: number): string {
  const msg = `${lines} log lines were lost: the log could not be written`;
  return `${JSON.stringify({ level: 40, time: Date.now(), lines, msg })}\n`;
}

function removedLine(): string {
  const msg = 'this log was removed or renamed while Drover wrote to it; it goes on in this new file';
  return `${JSON.stringify({ level: 40, time: Date.now(), msg })}\n`;
}

/** The beginning of a line of level error, as pino writes it. */
const ERROR_LINE = '{"level":50,';
const STACK = '"stack":"';

/** Opens the terminal. Loads pino-pretty only then, because a daemon under a service manager saves its memory. */
async function openTerminal(target: boolean | LogTerminal) {
  if (target === false) return undefined;
  const terminal = target === true ? process.stdout : target;
  const { prettyFactory } = await import('pino-pretty');
  const shared = {
    colorize: terminal.isTTY === true,
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss.l',
  };
  // A person needs only the message, because the file has the fields. Errors with a stack show where they come from.
  const plain = prettyFactory({ ...shared, hideObject: true });
  const detailed = prettyFactory(shared);
  const show = (line: string): void => {
    const isDetailed = line.startsWith(ERROR_LINE) && line.includes(STACK);
    terminal.write((isDetailed ? detailed : plain)(harmless(line)));
  };
  if (target !== true) return { show, close: ignore };
  // A terminal that is gone (EPIPE, EIO), or a full disk behind a redirection, must not end the daemon.
  process.stdout.on('error', ignore);
  return { show, close: () => process.stdout.off('error', ignore) };
}

/**
 * Every escape of a JSON text, and literal DEL and C1 characters. A backslash is matched together with the character that it
 * escapes, so that the end of an escape does not look like the start of another.
 */
const ESCAPES = /\\(?:u[0-9a-f]{4}|.)|[\x7f-\x9f]/g;
const CONTROLS = /^(?:\\u00[01][0-9a-f]|\\[bfr]|[\x7f-\x9f])$/;
/**
 * The text before pino's message, which is the last field of a line. Inside any other text these quotes would be
 * escaped.
 */
const MESSAGE = ',"msg":"';

/**
 * Removes control characters for the terminal from a JSON line, because clients and instances choose names and texts
 * that are logged.
 */
function harmless(line: string): string {
  const from = line.lastIndexOf(MESSAGE);
  if (from === -1) return withoutControls(line);
  // Join the lines of a message: its second line could look like another log line. Stack traces keep their lines.
  const message = withoutControls(line.slice(from)).replace(ESCAPES, (found) =>
    found === '\\n' ? ' ' : found,
  );
  return withoutControls(line.slice(0, from)) + message;
}

function withoutControls(json: string): string {
  return json.replace(ESCAPES, (found) => (CONTROLS.test(found) ? '' : found));
}

function ignore(): void {}
