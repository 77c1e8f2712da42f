import { messageOf } from '../../model/errors.js';
import type { Ambient } from '../../telemetry/ambient.js';
import { RepeatedLog } from '../../telemetry/repeated-log.js';
import type { MessageOf, Report } from '../protocol/messages.js';
import type { Transport } from '../protocol/transport.js';
import type { FeedPace } from './feed-pace.js';
import type { StatusIntake } from './status-intake.js';

/** How many bytes of one node's reports may wait to be recorded. Twenty thousand usual reports take a fifth of that. */
const MOST_UNRECORDED_BYTES = 32 * 1024 * 1024;
/** The memory that a report takes in addition to its message. */
const REPORT_BYTES = 256;
/** The time between two tries to record reports when the store cannot write. */
const RECORD_RETRY_MS = 1000;

interface StatusMessagesOptions extends Ambient {
  readonly intake: StatusIntake;
  /** Decides when acknowledgements are sent: together with the feed, so that both travel in one packet. */
  readonly pace: FeedPace;
  /** Counts a write as under way until it has ended. */
  readonly track: (writing: Promise<void>) => void;
}

/** The part of a node's session that its reports need. */
export interface ReportingSession {
  readonly nodeId: string;
  readonly transport: Transport;
  /** The sequence of the last status message that was taken. */
  reportSequence: number;
  /** The sequences of messages whose reports are recorded but not yet acknowledged. */
  readonly recorded: number[];
}

export class StatusMessages {
  readonly #options: StatusMessagesOptions;
  /** The approximate memory of each node's unrecorded reports, by node. The entry outlives the node's connection. */
  readonly #unrecordedBytes = new Map<string, number>();
  readonly #failures: RepeatedLog;

  constructor(options: StatusMessagesOptions) {
    this.#options = options;
    this.#failures = new RepeatedLog(options.logger, options.clock, 'error');
  }

  /** Takes a message. Refuses a message out of order, because an old report would count as the newest. */
  take(session: ReportingSession, { sequence, reports }: MessageOf<'status'>): void {
    if (sequence <= session.reportSequence) return;
    if (sequence > session.reportSequence + 1) {
      session.transport.close('a gap in the reports');
      return;
    }
    session.reportSequence = sequence;
    this.#record(session, sequence, reports);
  }

  /**
   * Records reports and then acknowledges them. While the store cannot write, it tries again as long as the session
   * lasts.
   */
  #record(session: ReportingSession, sequence: number, reports: readonly Report[]): void {
    const { intake, clock, track } = this.#options;
    const { nodeId, transport } = session;
    const bytes = reports.reduce((sum, { message }) => sum + REPORT_BYTES + (message?.length ?? 0), 0);
    const unrecorded = (this.#unrecordedBytes.get(nodeId) ?? 0) + bytes;
    if (unrecorded > MOST_UNRECORDED_BYTES) {
      transport.close('it reports more than can be recorded now');
      return;
    }
    this.#unrecordedBytes.set(nodeId, unrecorded);
    const forget = (): void => this.#forget(nodeId, bytes);
    track(
      intake.take(nodeId, reports).then(
        () => {
          forget();
          this.#failures.clear();
          void this.#acknowledge(session, sequence);
        },
        (error: unknown) => {
          if (!transport.isOpen) return forget();
          const message = 'reports could not be recorded; trying again';
          this.#failures.say(messageOf(error), message, { err: error, node: nodeId });
          // The reports keep counting as unrecorded until the retry. Otherwise reports that fail at once would pile up.
          clock.setTimer(RECORD_RETRY_MS, () => {
            forget();
            if (transport.isOpen) this.#record(session, sequence, intake.stillNews(nodeId, reports));
          });
        },
      ),
    );
  }

  async #acknowledge({ transport, recorded }: ReportingSession, sequence: number): Promise<void> {
    recorded.push(sequence);
    if (recorded.length > 1) return;
    await this.#options.pace.turn();
    for (const each of recorded.splice(0)) transport.send({ type: 'status-acknowledged', sequence: each });
  }

  #forget(nodeId: string, bytes: number): void {
    const left = (this.#unrecordedBytes.get(nodeId) ?? 0) - bytes;
    if (left > 0) this.#unrecordedBytes.set(nodeId, left);
    else this.#unrecordedBytes.delete(nodeId);
  }
}
