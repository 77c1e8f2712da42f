/**
 * The log of one instance as a topic of the change stream: it carries the lines of the instance's live log, not
 * entries.
 */
import type { LogMessageForm } from '../live-log/live-log-chunk.js';
import type { LogSink } from '../live-log/live-log-reader.js';
import { MessagePacket } from '../sockets/message-packet.js';
import type { WatchSink } from './watcher.js';

const PREFIX = 'log:';

/** The id of the instance if the topic is the log of an instance; otherwise undefined. */
export function instanceOfLog(topic: string): string | undefined {
  return topic.startsWith(PREFIX) ? topic.slice(PREFIX.length) : undefined;
}

/**
 * A sink that sends lines to `sink` as messages until `ending` aborts. It aborts `ending` itself when there are no more
 * lines.
 */
export function logSinkOf(sink: WatchSink, form: LogMessageForm, ending: AbortController): LogSink {
  const { topic } = form;
  const say = (message: object): void => sink.send(new MessagePacket([JSON.stringify(message)]));
  const end = (reason: string): void => {
    say({ type: 'end', topic, reason });
    ending.abort();
  };
  return {
    signal: ending.signal,
    outlet: sink.outlet,
    begin: (node, next) => say({ type: 'log', topic, node, next }),
    send: (chunk, from, to) => sink.send(chunk.packet(from, to, form)),
    say: (text) => say({ type: 'note', topic, text }),
    end,
    fail: () => end('unexpected fault of the server'),
  };
}
