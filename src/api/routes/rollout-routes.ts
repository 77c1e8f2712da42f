/** `/rollouts`: the progress of changed contents through the instances, and the actions of operators on it. */

import { z } from 'zod';
import type { Reads } from '../../operations/reads.js';
import {
  actOnRollout,
  listRollouts,
  ROLLOUT_ACTIONS,
  type RolloutAction,
  requireRollout,
  restartConfiguration,
  shownRolloutSchema,
} from '../../operations/rollouts/rollouts.js';
import type { Writes } from '../../operations/writes.js';
import { callerOf, seesConfiguration } from '../gate/auth.js';
import { defineRoute, type Route } from '../http/route.js';

const nameParams = z.object({ name: z.string().describe('name of the configuration') });
const theRollout = { description: 'the rollout', schema: shownRolloutSchema };

const SUMMARIES: Readonly<Record<RolloutAction, string>> = {
  pause: 'Pauses a rollout: it makes and ends no more instances. Repeatable.',
  resume: 'Resumes a paused rollout. Repeatable.',
  promote: 'Lets all other instances follow the canaries. Repeatable.',
  retry: 'Tries a content again that is held back.',
};

export function rolloutRoutes(dependencies: Reads & Writes): readonly Route[] {
  return [
    listRoute(dependencies),
    getRoute(dependencies),
    ...ROLLOUT_ACTIONS.map((action) => actionRoute(dependencies, action)),
    restartRoute(dependencies),
  ];
}

function listRoute(dependencies: Reads & Writes): Route {
  return defineRoute({
    method: 'GET',
    path: '/rollouts',
    scope: 'READ',
    reach: 'filtered',
    summary: 'The latest rollout of each configuration that has had one, by name.',
    answers: { 200: { description: 'rollouts', schema: z.array(shownRolloutSchema) } },
    handle: ({ request }) =>
      listRollouts(dependencies).filter(({ configurationName }) =>
        seesConfiguration(request, configurationName),
      ),
  });
}

function getRoute(dependencies: Reads & Writes): Route {
  return defineRoute({
    method: 'GET',
    path: '/rollouts/:name',
    scope: 'READ',
    reach: 'configuration',
    summary: 'The latest rollout of a configuration.',
    errors: ['DRV_CONFIGURATION_UNKNOWN', 'DRV_ROLLOUT_UNKNOWN'],
    params: nameParams,
    answers: { 200: theRollout },
    handle: ({ params }) => requireRollout(dependencies, params.name),
  });
}

function actionRoute(dependencies: Reads & Writes, action: RolloutAction): Route {
  return defineRoute({
    method: 'POST',
    path: `/rollouts/:name/${action}`,
    scope: 'OPERATE',
    reach: 'configuration',
    summary: SUMMARIES[action],
    errors: [
      'DRV_CONFIGURATION_UNKNOWN',
      'DRV_ROLLOUT_UNKNOWN',
      'DRV_ROLLOUT_STATE',
      'DRV_STORE_WRITE_FAILED',
    ],
    params: nameParams,
    answers: { 200: theRollout },
    handle: ({ params, request }) =>
      actOnRollout(dependencies, params.name, { action, by: callerOf(request) }),
  });
}

function restartRoute(dependencies: Reads & Writes): Route {
  return defineRoute({
    method: 'POST',
    path: '/configurations/:name/restart',
    scope: 'OPERATE',
    reach: 'configuration',
    summary: 'Makes all instances anew from the same content, step by step, as a rollout does.',
    errors: ['DRV_CONFIGURATION_UNKNOWN', 'DRV_ROLLOUT_STATE', 'DRV_STORE_WRITE_FAILED'],
    params: nameParams,
    answers: { 200: theRollout },
    handle: ({ params, request }) => restartConfiguration(dependencies, params.name, callerOf(request)),
  });
}
