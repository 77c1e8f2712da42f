/** `/secrets`: values that programs get. No answer holds a value. */
import { z } from 'zod';
import { secretNameSchema, secretSourceSchema, shownSecretSchema } from '../../model/fields/secret.js';
import { callerOf } from '../gate/auth.js';
import { defineRoute, jsonAnswer, type Route } from '../http/route.js';

const params = z.object({ name: secretNameSchema.describe('name of the secret, its "/" as %2F') });
const answers = jsonAnswer('done', z.object({ message: z.string(), name: z.string() }));

export const secretRoutes: readonly Route[] = [
  defineRoute('GET', '/secrets', {
    scope: 'READ',
    summary: 'The secrets by name, without values, and the configurations that refer to them.',
    answers: jsonAnswer('secrets', z.array(shownSecretSchema)),
    handle: (_call, { secrets }) => secrets.list(),
  }),
  defineRoute('PUT', '/secrets/:name', {
    scope: 'SECRETS',
    summary: 'Makes or changes a secret. Instances that run get the value at their next start.',
    errors: ['DRV_NODE_CONFIG_INVALID', 'DRV_STORE_WRITE_FAILED'],
    params,
    body: secretSourceSchema,
    answers,
    handle: async ({ params: { name }, body, request }, { secrets }) => {
      await secrets.set(name, body, callerOf(request));
      return { message: `secret ${name} is set; what runs gets it at its next start`, name };
    },
  }),
  defineRoute('DELETE', '/secrets/:name', {
    scope: 'SECRETS',
    summary: 'Removes a secret that no configuration refers to.',
    errors: ['DRV_SECRET_UNKNOWN', 'DRV_SECRET_IN_USE', 'DRV_STORE_WRITE_FAILED'],
    params,
    answers,
    handle: async ({ params: { name } }, { secrets }) => {
      await secrets.remove(name);
      return { message: `secret ${name} is removed`, name };
    },
  }),
];
