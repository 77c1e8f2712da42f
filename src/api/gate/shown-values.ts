/**
 * Decides whether an answer shows values of configurations that may be secrets: a key of scope ALL sees them if it
 * asks.
 */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { flag } from '../http/route.js';
import { accessOf } from './auth.js';

export const valuesQuery = z.object({
  values: flag.describe(
    'show values that may be secrets, which are `***` otherwise; only for keys of scope ALL',
  ),
});

export function showsValues(request: FastifyRequest, { values }: z.output<typeof valuesQuery>): boolean {
  return values === 'true' && accessOf(request)?.scope === 'ALL';
}
