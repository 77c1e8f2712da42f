/** `/discovery/...`: the addresses of what serves, as proxies and monitoring outside of Drover read them. */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { nameSchema } from '../../model/names.js';
import { unknownConfiguration } from '../../model/unknown.js';
import {
  byAddress,
  endpointsOf,
  exposedOf,
  haproxyOf,
  prometheusOf,
  traefikOf,
} from '../../operations/discovery.js';
import { seesConfiguration } from '../gate/auth.js';
import { setTag } from '../http/preconditions.js';
import { defineRoute, type Route } from '../http/route.js';

const TEXT = 'text/plain; charset=utf-8';
/** The digits of a tag: 128 bits of a SHA-256. */
const TAG_DIGITS = 32;
const unchanged = { description: 'nothing has changed since the answer with the `ETag` in `If-None-Match`' };
const headers = z.object({
  'If-None-Match': z
    .string()
    .optional()
    .describe('the `ETag` of the last answer: 304 while nothing has changed'),
});

export const discoveryRoutes: readonly Route[] = [
  defineRoute('GET', '/discovery/prometheus', {
    scope: 'READ',
    reach: 'filtered',
    summary: 'What serves, as Prometheus reads it by `http_sd_configs`.',
    headers,
    query: z.object({
      configuration: nameSchema.optional().describe('only instances of this configuration'),
    }),
    answers: {
      200: {
        description: 'a group of targets for each instance with a port',
        schema: z.array(
          z.object({
            targets: z.array(z.string()).describe('one address, `host:port`'),
            labels: z
              .record(z.string(), z.string())
              .describe('configuration, instance, node and named ports'),
          }),
        ),
      },
      304: unchanged,
    },
    handle: ({ query, request }, needs, reply) => {
      const names = [...needs.configurations.entries()].map(([name]) => name).sort();
      const seen = names.filter(
        (name) => (query.configuration ?? name) === name && seesConfiguration(request, name),
      );
      const groups = prometheusOf(seen.flatMap((name) => endpointsOf(needs, name)));
      return answer({ request, reply, text: JSON.stringify(groups), type: 'application/json' });
    },
  }),
  defineRoute('GET', '/discovery/traefik', {
    scope: 'READ',
    reach: 'filtered',
    summary: 'Configurations with `expose`, as Traefik reads them by its HTTP provider.',
    headers,
    answers: {
      200: {
        description: 'routers and services; a configuration of which nothing serves is left out',
        schema: z.object({
          http: z
            .object({
              routers: z.record(z.string(), z.unknown()).describe('the rule of each configuration, by name'),
              services: z.record(z.string(), z.unknown()).describe('its servers, by the same name'),
            })
            .describe('absent while nothing serves')
            .optional(),
        }),
      },
      304: unchanged,
    },
    handle: ({ request }, needs, reply) => {
      const text = JSON.stringify(traefikOf(exposedOf(needs, (name) => seesConfiguration(request, name))));
      return answer({ request, reply, text, type: 'application/json' });
    },
  }),
  defineRoute('GET', '/discovery/haproxy', {
    scope: 'READ',
    reach: 'filtered',
    summary: 'Configurations with `expose`, as backends of HAProxy.',
    headers,
    answers: { 200: { description: 'backends', contentType: 'text/plain' }, 304: unchanged },
    handle: ({ request }, needs, reply) => {
      const text = haproxyOf(exposedOf(needs, (name) => seesConfiguration(request, name)));
      return answer({ request, reply, text, type: TEXT });
    },
  }),
  defineRoute('GET', '/discovery/addresses/:name', {
    scope: 'READ',
    reach: 'configuration',
    summary: 'The addresses at which a configuration serves, a line each.',
    headers,
    params: z.object({ name: nameSchema.describe('name of the configuration') }),
    answers: { 200: { description: 'lines `host:port`', contentType: 'text/plain' }, 304: unchanged },
    handle: ({ params: { name }, request }, needs, reply) => {
      if (needs.configurations.get(name) === undefined) throw unknownConfiguration(name);
      const text = byAddress(endpointsOf(needs, name))
        .map(({ address }) => `${address}\n`)
        .join('');
      return answer({ request, reply, text, type: TEXT });
    },
  }),
];

interface Answered {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly text: string;
  readonly type: string;
}

/** Answers with a text and its tag, or with 304 when the caller has that text. */
function answer({ request, reply, text, type }: Answered): FastifyReply {
  const tag = createHash('sha256').update(text).digest('hex').slice(0, TAG_DIGITS);
  setTag(reply, tag);
  if (request.headers['if-none-match']?.includes(`"${tag}"`) === true) return reply.code(304).send();
  return reply.type(type).send(text);
}
