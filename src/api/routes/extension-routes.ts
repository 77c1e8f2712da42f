/** `GET /extensions`: the extensions of the serving node. */
import { z } from 'zod';
import { extensionStatusSchema } from '../../extensions/extension.js';
import type { ExtensionRegistry } from '../../extensions/registry.js';
import { defineRoute, nothing, type Route } from '../http/route.js';

export interface ExtensionNeeds {
  readonly extensions: Pick<ExtensionRegistry, 'list'>;
}

export function extensionRoutes({ extensions }: ExtensionNeeds): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/extensions',
      scope: 'READ',
      summary: 'All extensions of the serving node, what they add, and which failed.',
      params: nothing,
      query: nothing,
      body: nothing,
      answers: { 200: { description: 'extensions', schema: z.array(extensionStatusSchema) } },
      handle: () => extensions.list(),
    }),
  ];
}
