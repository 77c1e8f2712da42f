/** `/rollouts`: the progress of changed contents through the instances, and the actions of operators on it. */

import { z } from 'zod';
import {
  listRollouts,
  ROLLOUT_ACTIONS,
  type RolloutAction,
  requireRollout,
  shown,
  shownRolloutSchema,
} from '../../operations/rollouts/rollouts.js';
import { callerOf, seesConfiguration } from '../gate/auth.js';
import { defineRoute, jsonAnswer, type Route } from '../http/route.js';
import { ofConfiguration } from './subjects.js';

const theRollout = { description: 'the rollout', schema: shownRolloutSchema };

const SUMMARIES: Readonly<Record<RolloutAction, string>> = {
  pause: 'Pauses a rollout: it makes and ends no more instances. Repeatable.',
  resume: 'Resumes a paused rollout. Repeatable.',
  promote: 'Lets all other instances follow the canaries. Repeatable.',
  retry: 'Tries a content again that is held back.',
};

export const rolloutRoutes: readonly Route[] = [
  defineRoute('GET', '/rollouts', {
    scope: 'READ',
    reach: 'filtered',
    summary: 'The latest rollout of each configuration that has had one, by name.',
    answers: jsonAnswer('rollouts', z.array(shownRolloutSchema)),
    handle: ({ request }, needs) =>
      listRollouts(needs).filter(({ configurationName }) => seesConfiguration(request, configurationName)),
  }),
  defineRoute('GET', '/rollouts/:name', {
    scope: 'READ',
    ...ofConfiguration,
    summary: 'The latest rollout of a configuration.',
    errors: ['DRV_ROLLOUT_UNKNOWN'],
    answers: { 200: theRollout },
    handle: ({ params }, needs) => requireRollout(needs, params.name),
  }),
  ...ROLLOUT_ACTIONS.map((action) =>
    defineRoute('POST', `/rollouts/:name/${action}`, {
      scope: 'OPERATE',
      ...ofConfiguration,
      summary: SUMMARIES[action],
      errors: ['DRV_ROLLOUT_UNKNOWN', 'DRV_ROLLOUT_STATE', 'DRV_RECORD_UNREADABLE', 'DRV_STORE_WRITE_FAILED'],
      answers: { 200: theRollout },
      handle: async ({ params, request }, needs) =>
        shown(needs, await needs.rolloutWrites[action](params.name, callerOf(request))),
    }),
  ),
  defineRoute('POST', '/configurations/:name/restart', {
    scope: 'OPERATE',
    ...ofConfiguration,
    summary: 'Makes all instances anew from the same content, step by step, as a rollout does.',
    errors: ['DRV_ROLLOUT_STATE', 'DRV_RECORD_UNREADABLE', 'DRV_STORE_WRITE_FAILED'],
    answers: { 200: theRollout },
    handle: async ({ params, request }, needs) =>
      shown(needs, await needs.rolloutWrites.restart(params.name, callerOf(request))),
  }),
];
