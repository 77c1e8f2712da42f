/** `store` in `config.json`: where a master keeps its state. */
import { z } from 'zod';

const fileSchema = z.string().min(1);

export const etcdSettingsSchema = z
  .strictObject({
    kind: z.literal('etcd'),
    endpoints: z
      .array(
        z
          .string()
          .refine(
            (text) => /^https?:\/\/[^\s/@?#]+$/.test(text) && URL.canParse(text),
            'must be http://host:port or https://host:port',
          ),
      )
      .min(1)
      .max(16)
      .describe("the client URLs of the cluster's members"),
    ca: fileSchema.optional().describe('PEM file of the authority that signed the certificates of etcd'),
    cert: fileSchema.optional().describe('PEM file: the certificate that this master shows to etcd'),
    key: fileSchema.optional().describe('PEM file: the key of cert'),
    user: z.string().min(1).optional().describe('user of etcd; with passwordFile'),
    passwordFile: fileSchema.optional().describe('file with the password of user'),
    prefix: z
      .string()
      .regex(
        /^[!-~]{0,199}[!-.0-~]$/,
        'must be at most 200 printable ASCII characters without spaces, and not end in /',
      )
      .optional()
      .describe('what all keys of this cluster begin with; default: /drover/<clusterName>'),
  })
  .check(({ value, issues }) => {
    const refuse = (field: keyof typeof value, message: string, input: unknown): void =>
      void issues.push({ code: 'custom', path: [field], message, input });
    for (const [field, other] of [
      ['cert', 'key'],
      ['key', 'cert'],
      ['user', 'passwordFile'],
      ['passwordFile', 'user'],
    ] as const)
      if (value[field] === undefined && value[other] !== undefined)
        refuse(field, `is missing: ${other} needs it`, value);
    const { endpoints, ca, cert } = value;
    const schemes = new Set(endpoints.map((endpoint) => endpoint.split(':')[0]));
    if (schemes.size > 1) refuse('endpoints', 'must all begin with http:// or all with https://', endpoints);
    else if (schemes.has('http') && (ca ?? cert) !== undefined)
      refuse('endpoints', 'must begin with https://: ca and cert have no effect without TLS', endpoints);
  });

export const storeSettingsSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('lmdb') }),
  etcdSettingsSchema,
]);

export type EtcdSettings = z.output<typeof etcdSettingsSchema>;
