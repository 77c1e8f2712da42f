/**
 * Decides which values of configurations that may be secrets an answer shows: a key of scope ALL sees those that do not
 * look like secrets, and all if it asks.
 */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ShownValues } from '../../model/plain/may-be-secret.js';
import { flag } from '../http/route.js';
import { accessOf } from './auth.js';

export const valuesQuery = z.object({
  values: flag.describe(
    'show values that look like secrets too, which are `***` otherwise; keys below scope ALL see no values that may be secrets',
  ),
});

/** `isAsked`: the caller wants all values. */
export function shownTo(request: FastifyRequest, isAsked: boolean): ShownValues {
  if (accessOf(request)?.may('ALL') !== true) return 'none';
  return isAsked ? 'all' : 'plain';
}
