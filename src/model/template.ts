/** What a configuration says about templates. The trees themselves are the business of `src/templates`. */
import { z } from 'zod';
import { nameSchema } from './names.js';

/** The storage that is `templates/` of the master; every other key is a provider's. */
export const LOCAL_STORAGE = 'local';

/** One template by name; `storage` is the provider it comes from, `local` being `templates/` of the master. */
export const templateReferenceSchema = z.object({
  name: nameSchema,
  group: nameSchema,
  storage: nameSchema.default(LOCAL_STORAGE),
  /** Installation order: lower first, so that the higher priority wins where two templates hold one path. */
  priority: z.int().min(-1_000_000).max(1_000_000).default(0),
});

export const templateInstallationSchema = z.object({
  allOf: z.array(templateReferenceSchema).max(256).default([]),
  allInGroups: z.array(nameSchema).max(256).default([]),
  oneOf: z.array(templateReferenceSchema).max(256).default([]),
  oneInGroups: z.array(nameSchema).max(256).default([]),
  onTemplatePasteOverridePresentFiles: z.boolean().default(false),
});

export type TemplateReference = z.output<typeof templateReferenceSchema>;
export type TemplateInstallation = z.output<typeof templateInstallationSchema>;

/** A template as installed: which tree, and in which order. Digest is undefined while the master has no such tree. */
export interface ResolvedTemplate {
  readonly group: string;
  readonly name: string;
  readonly priority: number;
  readonly digest: string | null;
  /** Why there is no digest, for a person; undefined: the master has no such directory. */
  readonly problem?: string | undefined;
}
