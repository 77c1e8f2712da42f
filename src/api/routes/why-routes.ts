/** `.../why`: the explanations of instances, configurations and nodes, as data. */

import { z } from 'zod';
import {
  configurationExplanationSchema,
  instanceExplanationSchema,
  nodeExplanationSchema,
} from '../../explain/explanation.js';
import { healthOfConfiguration } from '../../operations/configuration-health.js';
import { defineRoute, jsonAnswer, type Route } from '../http/route.js';
import { ofInstance } from './subjects.js';

const nameParams = z.object({
  name: z.string().describe('name of a configuration; a broken file or left instances are enough'),
});

const nodeParams = z.object({ id: z.string().describe('node id') });

export const whyRoutes: readonly Route[] = [
  defineRoute('GET', '/instances/:id/why', {
    scope: 'READ',
    ...ofInstance,
    summary: 'Why an instance is as it is: desired against actual, what happens next, and what to do.',
    answers: jsonAnswer('the explanation', instanceExplanationSchema),
    handle: ({ params }, { explainer }) => explainer.instance(params.id),
  }),
  defineRoute('GET', '/configurations/:name/why', {
    scope: 'READ',
    reach: 'configuration',
    summary: 'Why a configuration stands as it does: its file, its instances, and where one more would fit.',
    params: nameParams,
    answers: jsonAnswer('the explanation', configurationExplanationSchema),
    // The health stands here: `GET /configurations/{name}` answers with what PUT takes, and no more.
    handle: async ({ params: { name } }, needs) => ({
      ...(await needs.explainer.configuration(name)),
      health: healthOfConfiguration(needs, name).health,
    }),
  }),
  defineRoute('GET', '/cluster/nodes/:id/why', {
    scope: 'READ',
    summary: 'Why a node stands as it does: whether it is there, and which of its instances are not well.',
    errors: ['DRV_NODE_UNKNOWN'],
    params: nodeParams,
    answers: jsonAnswer('the explanation', nodeExplanationSchema),
    handle: ({ params }, { explainer }) => explainer.node(params.id),
  }),
];
