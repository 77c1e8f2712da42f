/** The subject of a route: the instance or the configuration that its path names. Spread into the route's spec. */
import { z } from 'zod';

export const ofInstance = {
  reach: 'instance',
  params: z.object({ id: z.string().describe('instance id, 6 characters') }),
} as const;

export const ofConfiguration = {
  reach: 'configuration',
  params: z.object({ name: z.string().describe('name of the configuration') }),
} as const;
