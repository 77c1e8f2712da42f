/** What each command does in the daemon, on the master's own operations. */
import type { CommandRuns } from '../../command-tree/commands.js';
import { createJoinToken, listJoinTokens, revokeJoinToken } from '../../operations/join-tokens.js';
import { endSession, listSessions } from '../../operations/sessions.js';
import type { CommandDependencies } from '../context.js';
import { configurationRuns } from './configuration-runs.js';
import { instanceRuns } from './instance-runs.js';
import { keyRuns } from './key-runs.js';
import { nodeRuns } from './node-runs.js';
import { rolloutRuns } from './rollout-runs.js';
import { templateRuns } from './template-runs.js';

/** `actor`: the caller's name in the audit trail. */
export function commandRuns(dependencies: CommandDependencies, actor: string): CommandRuns {
  return {
    ...instanceRuns(dependencies),
    ...configurationRuns(dependencies, actor),
    ...rolloutRuns(dependencies, actor),
    ...templateRuns(dependencies),
    ...nodeRuns(dependencies),
    ...keyRuns(dependencies),
    'cluster token create': (token) => createJoinToken(dependencies, token),
    'cluster token list': () => listJoinTokens(dependencies),
    'cluster token revoke': ({ id }) => revokeJoinToken(dependencies, id),
    'session list': () => listSessions(dependencies, null),
    'session revoke': ({ id }) => endSession(dependencies, null, id),
    'extension list': () => dependencies.extensions.list(),
  };
}
