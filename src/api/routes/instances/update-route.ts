/** `/instances/{id}/update`: gives an instance the content in force where it is. */

import { z } from 'zod';
import type { InstanceRecord } from '../../../model/instance.js';
import { shownInstanceId } from '../../../model/names.js';
import { unknownInstance } from '../../../model/unknown.js';
import { countText } from '../../../model/words.js';
import { defineRoute, jsonAnswer } from '../../http/route.js';
import { ofInstance } from '../subjects.js';

const updateBodySchema = z.object({
  waitForPlayers: z
    .boolean()
    .default(false)
    .describe('true: update the instance when its players have left, not now'),
});

export type UpdateBody = z.output<typeof updateBodySchema>;

const updatedInstanceSchema = z.object({
  message: z.string(),
  instanceId: shownInstanceId,
  outcome: z
    .enum(['restarted', 'taken', 'current', 'waiting'])
    .describe(
      'restarted: it starts again with the new content; taken: its next start has the new content; current: it had the content already; waiting: its players must leave first',
    ),
  configurationRevision: z.string().describe('the revision that the instance takes, or has'),
});
export type UpdatedInstance = z.output<typeof updatedInstanceSchema>;

export const updateRoute = defineRoute('POST', '/instances/:id/update', {
  scope: 'OPERATE',
  ...ofInstance,
  summary:
    'Gives an instance the content in force, in place: same id, node and directory. A running instance is restarted.',
  errors: ['DRV_CONFIGURATION_UNKNOWN', 'DRV_UPDATE_REFUSED', 'DRV_STORE_WRITE_FAILED'],
  body: updateBodySchema,
  answers: jsonAnswer('recorded', updatedInstanceSchema),
  handle: async ({ params: { id }, body }, { instances, led }) => {
    const before = instances.get(id)?.value;
    if (before === undefined || before.desired.goal === 'remove') throw unknownInstance(id);
    const { updates } = led();
    const isAwaited = body.waitForPlayers && (before.status.players ?? 0) > 0;
    const asked = isAwaited ? await updates.updateWhenEmpty(id) : undefined;
    if (asked !== undefined) return answer(before, asked, 'waiting');
    const outcome = await updates.update(id);
    if (outcome === 'not-due') throw unknownInstance(id);
    return answer(before, instances.get(id)?.value.revision ?? before.revision, outcome);
  },
});

function answer(
  before: InstanceRecord,
  configurationRevision: string,
  outcome: UpdatedInstance['outcome'],
): UpdatedInstance {
  const { id, configurationName: name } = before;
  const content = `the content in force of ${name} (revision ${configurationRevision.slice(0, 8)})`;
  const message = {
    restarted: `instance ${id} is restarted in place with ${content}`,
    taken: `instance ${id} has ${content} from its next start on`,
    current: `instance ${id} has ${content} already`,
    waiting: `instance ${id} takes ${content} when its ${countText(before.status.players ?? 0, 'player has', 'players have')} left`,
  }[outcome];
  return { message, instanceId: id, outcome, configurationRevision };
}
