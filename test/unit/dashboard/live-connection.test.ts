/** The dashboard's one watch socket: lost and found again, at rest while nobody looks, and never silent about either. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LiveConnection, type SocketEvents } from '../../../src/dashboard/live/live-connection.js';
import type { Subscriber } from '../../../src/watch-client/subscriptions.js';

const REVOKED = 1008;
const GONE = 1006;
const BEGUN_AT = Date.UTC(2026, 0, 1);

interface FakeSocket {
  readonly events: SocketEvents;
  readonly sent: unknown[];
  isClosed: boolean;
}

beforeEach(() => {
  vi.useFakeTimers({ now: BEGUN_AT });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A connection over sockets that the test plays. `random`: the longest delay there is. */
function makeConnection({ random = 1 }: { readonly random?: number } = {}) {
  const sockets: FakeSocket[] = [];
  const session = { isOver: false };
  const checkSession = vi.fn(() => Promise.resolve());
  const connection = new LiveConnection({
    open: (events) => {
      if (session.isOver) return null;
      const socket: FakeSocket = { events, sent: [], isClosed: false };
      sockets.push(socket);
      return {
        send: (text) => socket.sent.push(JSON.parse(text)),
        close: () => {
          socket.isClosed = true;
        },
      };
    },
    now: () => Date.now(),
    checkSession,
    random: () => random,
  });
  const newest = (): FakeSocket => {
    const socket = sockets.at(-1);
    if (socket === undefined) throw new Error('no socket was opened');
    return socket;
  };
  /** The server takes the newest socket and says something. */
  const answer = (): void => {
    newest().events.onOpen();
    beat();
  };
  const beat = (): void => newest().events.onText('[{"type":"beat"}]');
  const phase = (): string => connection.state.value.phase;
  return { connection, sockets, session, newest, answer, beat, phase, checkSession };
}

function pets(received: unknown[] = [], revision = { value: 0 }): Subscriber {
  return {
    topic: 'pets',
    request: () => ({ subscribe: 'pets', resume: { epoch: 'e', revision: revision.value } }),
    receive: (message) => received.push(message),
  };
}

describe('a connection', () => {
  it('asks for its topics when it opens, and hands each message to the topic that it is of', () => {
    const { connection, newest, answer, phase } = makeConnection();
    const received: unknown[] = [];
    connection.subscribe(pets(received));
    connection.start();
    expect(phase()).toBe('connecting');
    answer();
    expect(phase()).toBe('live');
    expect(newest().sent).toEqual([{ subscribe: 'pets', resume: { epoch: 'e', revision: 0 } }]);
    const changes = { type: 'changes', topic: 'pets', epoch: 'e', revision: 1, put: [], gone: [] };
    newest().events.onText(JSON.stringify([{ ...changes, topic: 'cats' }, { type: 'novelty' }, changes]));
    const position = { epoch: 'e', revision: 1 };
    expect(received).toEqual([{ type: 'changes', topic: 'pets', position, put: [], gone: [] }]);
  });

  it('subscribes and unsubscribes on an open socket, and of a topic that was taken over it ends nothing', () => {
    const { connection, newest, answer } = makeConnection();
    connection.start();
    answer();
    const endFirst = connection.subscribe(pets());
    const endSecond = connection.subscribe(pets());
    endFirst();
    expect(newest().sent).toHaveLength(2);
    endSecond();
    expect(newest().sent.at(-1)).toEqual({ unsubscribe: 'pets' });
  });

  it('is there without a topic, so that a revoked key is known on every screen', () => {
    const { connection, newest, phase, checkSession } = makeConnection();
    connection.start();
    newest().events.onOpen();
    expect(phase()).toBe('live');
    newest().events.onClosed(REVOKED);
    expect(checkSession).toHaveBeenCalledOnce();
  });

  it('goes on when the server refuses a topic', () => {
    const { connection, newest, answer, phase } = makeConnection();
    connection.start();
    answer();
    newest().events.onText('[{"type":"error","error":"there is no topic cats"}]');
    expect(phase()).toBe('live');
  });
});

describe('a lost connection', () => {
  it('says since when all is old, until the server says something again, and goes on where it stopped', () => {
    const { connection, sockets, newest, answer, phase } = makeConnection();
    const revision = { value: 4 };
    connection.subscribe(pets([], revision));
    connection.start();
    answer();
    vi.advanceTimersByTime(3_000);
    newest().events.onClosed(GONE);
    expect(connection.state.value).toEqual({ phase: 'lost', since: BEGUN_AT });
    revision.value = 9;
    vi.advanceTimersByTime(250);
    expect(sockets).toHaveLength(2);
    expect(connection.state.value).toEqual({ phase: 'connecting', since: BEGUN_AT });
    newest().events.onOpen();
    expect(phase()).toBe('connecting');
    expect(newest().sent).toEqual([{ subscribe: 'pets', resume: { epoch: 'e', revision: 9 } }]);
    newest().events.onText('[{"type":"changes","topic":"pets","put":[],"gone":[]}]');
    expect(phase()).toBe('live');
  });

  it('is noticed after 20 s of silence', () => {
    const { connection, newest, answer, beat, phase } = makeConnection();
    connection.start();
    answer();
    vi.advanceTimersByTime(19_000);
    beat();
    vi.advanceTimersByTime(19_999);
    expect(phase()).toBe('live');
    const silent = newest();
    vi.advanceTimersByTime(1);
    expect(phase()).toBe('lost');
    expect(silent.isClosed).toBe(true);
  });

  it('is noticed at once when the browser says that it is offline', () => {
    const { connection, answer, phase } = makeConnection();
    connection.start();
    answer();
    connection.lose();
    expect(phase()).toBe('lost');
  });

  it('is tried again later and later, up to 5 s, and at once when the operator asks', () => {
    const { connection, sockets, newest, answer } = makeConnection();
    connection.start();
    const delays: number[] = [];
    for (let index = 0; index < 7; index++) {
      newest().events.onClosed(GONE);
      const [opened, lostAt] = [sockets.length, Date.now()];
      while (sockets.length === opened) vi.advanceTimersByTime(250);
      delays.push(Date.now() - lostAt);
    }
    expect(delays).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
    newest().events.onClosed(GONE);
    const opened = sockets.length;
    connection.wake();
    expect(sockets).toHaveLength(opened + 1);
    vi.advanceTimersByTime(5_000);
    expect(sockets).toHaveLength(opened + 1);
    answer();
    newest().events.onClosed(GONE);
    vi.advanceTimersByTime(250);
    expect(sockets).toHaveLength(opened + 2);
  });

  it('comes back after half the delay at the earliest: tabs do not all come at once', () => {
    const { connection, sockets, newest } = makeConnection({ random: 0 });
    connection.start();
    newest().events.onClosed(GONE);
    vi.advanceTimersByTime(124);
    expect(sockets).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(sockets).toHaveLength(2);
  });

  it('is what a socket is that carries no change stream', () => {
    const { connection, newest, answer, phase } = makeConnection();
    connection.start();
    answer();
    newest().events.onText('<html>');
    expect([phase(), newest().isClosed]).toEqual(['lost', true]);
  });

  it('asks whether the session stands when the server refuses it, and not when it was only cut', () => {
    const { connection, newest, answer, checkSession } = makeConnection();
    connection.start();
    answer();
    newest().events.onClosed(GONE);
    expect(checkSession).not.toHaveBeenCalled();
    vi.advanceTimersByTime(250);
    newest().events.onClosed(GONE);
    expect(checkSession).toHaveBeenCalledOnce();
  });

  it('hears nothing more of the socket before', () => {
    const { connection, sockets, newest, answer, phase } = makeConnection();
    const received: unknown[] = [];
    connection.subscribe(pets(received));
    connection.start();
    answer();
    connection.lose();
    vi.advanceTimersByTime(250);
    answer();
    const [first] = sockets;
    first?.events.onText('[{"type":"changes","topic":"pets","put":[],"gone":[]}]');
    first?.events.onClosed(GONE);
    expect([received, phase(), newest().isClosed]).toEqual([[], 'live', false]);
  });
});

describe('a hidden tab', () => {
  it('rests after 30 s, and says that all is old from the moment that it is seen', () => {
    const { connection, newest, sockets, answer, beat, phase } = makeConnection();
    connection.subscribe(pets());
    connection.start();
    answer();
    connection.setHidden(true);
    vi.advanceTimersByTime(19_000);
    beat();
    vi.advanceTimersByTime(10_999);
    expect(phase()).toBe('live');
    vi.advanceTimersByTime(1);
    expect(phase()).toBe('idle');
    expect(newest().isClosed).toBe(true);
    vi.advanceTimersByTime(3_600_000);
    expect(sockets).toHaveLength(1);
    connection.setHidden(false);
    expect(connection.state.value).toEqual({ phase: 'connecting', since: BEGUN_AT + 19_000 });
    expect(sockets).toHaveLength(2);
    answer();
    expect(phase()).toBe('live');
  });

  it('stays connected when it is seen again before', () => {
    const { connection, sockets, answer, beat, phase } = makeConnection();
    connection.start();
    answer();
    connection.setHidden(true);
    vi.advanceTimersByTime(15_000);
    connection.setHidden(false);
    beat();
    vi.advanceTimersByTime(16_000);
    expect([phase(), sockets.length]).toEqual(['live', 1]);
  });
});

describe('the end of a session', () => {
  it('ends the connection, and with it all tries', () => {
    const { connection, sockets, newest, answer, phase } = makeConnection();
    connection.start();
    answer();
    newest().events.onClosed(REVOKED);
    connection.stop();
    vi.advanceTimersByTime(60_000);
    connection.wake();
    expect([phase(), sockets.length]).toEqual(['idle', 1]);
  });

  it('may be known before the connection is stopped: the next try rests', () => {
    const { connection, sockets, session, newest, answer, phase } = makeConnection();
    connection.start();
    answer();
    newest().events.onClosed(REVOKED);
    session.isOver = true;
    vi.advanceTimersByTime(60_000);
    expect([phase(), sockets.length]).toEqual(['idle', 1]);
    connection.stop();
    session.isOver = false;
    connection.start();
    expect([phase(), sockets.length]).toEqual(['connecting', 2]);
  });

  it('while the tab rests leaves nothing behind: the next session connects, and knows of no old figures', () => {
    const { connection, answer, sockets } = makeConnection();
    connection.start();
    answer();
    connection.setHidden(true);
    vi.advanceTimersByTime(30_000);
    const opened = sockets.length;
    connection.stop();
    connection.start();
    expect(sockets).toHaveLength(opened + 1);
    expect(connection.state.value).toEqual({ phase: 'connecting', since: null });
  });
});
