/** The `expose` block of a configuration: what proxies outside of Drover learn of its instances. */
import { z } from 'zod';

/** A name of DNS, with `*` as its first label where it stands for all names below. */
const HOST = /^(?:\*\.)?[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i;
/** A path without what a rule of Traefik or a line of HAProxy would read as its own. */
const PATH = /^\/[\w./~%+@:=,-]*$/;

export const exposeSchema = z
  .object({
    host: z
      .string()
      .max(253)
      .regex(HOST, 'must be a host name such as play.example.org')
      .optional()
      .describe('the host name that a request must have'),
    path: z
      .string()
      .max(1024)
      .regex(PATH, 'must begin with / and hold only letters, digits and . _ ~ % + @ : = , -')
      .optional()
      .describe('the beginning of the path that a request must have'),
    leaveSeconds: z
      .int()
      .min(0)
      .max(600)
      .default(0)
      .describe('how long an instance runs on after it has left the lists, before its stop begins'),
  })
  .refine(({ host, path }) => host !== undefined || path !== undefined, {
    error: 'must have host or path, by which a proxy knows its requests',
  });
export type Expose = Readonly<z.output<typeof exposeSchema>>;
