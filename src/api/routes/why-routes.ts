/** `/why`: the explanations of instances and configurations, as data. */
import { z } from 'zod';
import { configurationExplanationSchema, instanceExplanationSchema } from '../../explain/explanation.js';
import type { ApiDependencies } from '../http/dependencies.js';
import { defineRoute, nothing, type Route } from '../http/route.js';
import { instanceParams } from './instance-schemas.js';

const nameParams = z.object({
  name: z.string().describe('name of the configuration, also of one that only a broken file has'),
});

export function whyRoutes({ explainer }: Pick<ApiDependencies, 'explainer'>): readonly Route[] {
  const instanceRoute = defineRoute({
    method: 'GET',
    path: '/instances/:id/why',
    scope: 'ALL',
    summary: 'Why an instance is as it is: desired against actual, what happens next, and what to do.',
    errors: ['DRV_INSTANCE_UNKNOWN'],
    params: instanceParams,
    query: nothing,
    body: nothing,
    answers: { 200: { description: 'the explanation', schema: instanceExplanationSchema } },
    handle: ({ params }) => explainer.instance(params.id),
  });
  const configurationRoute = defineRoute({
    method: 'GET',
    path: '/configurations/:name/why',
    scope: 'ALL',
    summary: 'Why a configuration stands as it does: its file, its instances, and where one more would fit.',
    errors: ['DRV_CONFIGURATION_UNKNOWN'],
    params: nameParams,
    query: nothing,
    body: nothing,
    answers: { 200: { description: 'the explanation', schema: configurationExplanationSchema } },
    handle: ({ params }) => explainer.configuration(params.name),
  });
  return [instanceRoute, configurationRoute];
}
