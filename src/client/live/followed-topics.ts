/** Follows change-stream topics that consist of entries. */
import { failedError } from '../../command-tree/runs/client-error.js';
import { isEntryMessage } from '../../watch-client/messages.js';
import { KEY_OF, type TopicName, type Topics } from '../../watch-client/topics.js';
import { WatchedEntries } from '../../watch-client/watched-entries.js';
import type { ApiConnection } from '../connection/connection.js';
import { WatchStream } from '../connection/watch-stream.js';
import type { LiveOutput } from './live-output.js';

/** The topics to follow, with the other fields of each subscribe message. */
export type WantedTopics = Readonly<Partial<Record<TopicName, object>>>;

/** The entries of each topic; a topic that is not followed has none. */
export type FollowedTopics = { readonly [Name in TopicName]: WatchedEntries<Topics[Name]> };

/**
 * Yields one object that is updated in place: first once all topics have their whole snapshot, then after each
 * change. `say` gets a line about each lost or restored connection. Ends when `signal` aborts.
 */
export async function* followTopics(
  connection: ApiConnection,
  wanted: WantedTopics,
  { say, signal }: Pick<LiveOutput, 'say' | 'signal'>,
): AsyncGenerator<FollowedTopics, void> {
  const watch = new WatchStream(connection, say);
  for (const [topic, rest] of Object.entries(wanted)) watch.subscribe(topic, () => rest);
  const followed: FollowedTopics = {
    instances: new WatchedEntries(KEY_OF.instances),
    configurations: new WatchedEntries(KEY_OF.configurations),
    health: new WatchedEntries(KEY_OF.health),
    nodes: new WatchedEntries(KEY_OF.nodes),
    templates: new WatchedEntries(KEY_OF.templates),
    rollouts: new WatchedEntries(KEY_OF.rollouts),
    events: new WatchedEntries(KEY_OF.events),
    exits: new WatchedEntries(KEY_OF.exits),
    usage: new WatchedEntries(KEY_OF.usage),
  };
  for await (const message of watch.messages(signal)) {
    if (message.type === 'error') throw failedError(message.error);
    if (!isEntryMessage(message)) continue;
    for (const [topic, entries] of Object.entries(followed))
      if (topic === message.topic) entries.take(message);
    const areWhole = Object.entries(followed).every(([topic, { isWhole }]) => isWhole || !(topic in wanted));
    // Yield only after the last message of a snapshot: before it, old and new entries are mixed.
    if (areWhole && (message.type === 'changes' || message.isLast)) yield followed;
  }
}
