/** The last contents of a configuration, and what differs between two of them: `config history`, `config diff` and routes. */
import { z } from 'zod';
import type { Configuration, ConfigurationRecord } from '../model/configuration.js';
import {
  type ConfigurationHistory,
  contentEndSchema,
  contentsOf,
  type KeptContent,
  keptContentSchema,
} from '../model/configuration-history.js';
import { DroverError } from '../model/errors.js';
import type { InstanceRecord } from '../model/instance.js';
import { unknownConfiguration } from '../model/unknown.js';
import type { MirrorReader } from '../store/mirror.js';
import { differencesOf, fieldDifferenceSchema } from './field-differences.js';
import { visibleInstances } from './instance-details.js';

export interface ConfigurationHistoryNeeds {
  readonly configurations: Pick<MirrorReader<ConfigurationRecord>, 'get'>;
  readonly histories: Pick<MirrorReader<ConfigurationHistory>, 'get'>;
  readonly revisions: Pick<MirrorReader<Configuration>, 'get'>;
  readonly instances: Pick<MirrorReader<InstanceRecord>, 'entries'>;
}

export const pastContentSchema = keptContentSchema.omit({ end: true }).extend({
  outcome: z
    .enum(['in-force', ...contentEndSchema.shape.outcome.options])
    .describe('in-force: the file says it, and instances are made from it'),
  reason: contentEndSchema.shape.reason,
  endedAt: z.number().nullable().describe('Unix milliseconds; null: the file says it'),
  instances: z.int().describe('that are made from it now'),
});
export type PastContent = z.output<typeof pastContentSchema>;

export const contentDiffSchema = z.object({
  configurationName: z.string(),
  from: z.int().describe('number of the older content'),
  to: z.int().describe('number of the newer content'),
  differences: z.array(fieldDifferenceSchema).describe('from the one to the other'),
});
export type ContentDiff = z.output<typeof contentDiffSchema>;

/** The last contents, the newest first. Throws DRV_CONFIGURATION_UNKNOWN. */
export function historyOf(needs: ConfigurationHistoryNeeds, name: string): PastContent[] {
  const counts = new Map<string, number>();
  for (const { configurationName, revision } of visibleInstances(needs))
    if (configurationName === name) counts.set(revision, (counts.get(revision) ?? 0) + 1);
  return keptContents(needs, name)
    .map(({ end, ...content }) => ({
      ...content,
      outcome: end?.outcome ?? ('in-force' as const),
      reason: end?.reason ?? null,
      endedAt: end?.at ?? null,
      instances: counts.get(content.revision) ?? 0,
    }))
    .toReversed();
}

/** `to` absent: the newest. Throws DRV_CONFIGURATION_UNKNOWN, or DRV_REVISION_UNKNOWN. */
export function contentDiffOf(
  needs: ConfigurationHistoryNeeds,
  name: string,
  { from, to }: { readonly from: number; readonly to?: number | undefined },
): ContentDiff {
  const contents = keptContents(needs, name);
  const newest = contents.at(-1)?.number ?? 1;
  const before = contentOf(needs, contentNumbered(contents, { name, number: from }));
  const after = contentOf(needs, contentNumbered(contents, { name, number: to ?? newest }));
  return { configurationName: name, from, to: to ?? newest, differences: differencesOf(before, after) };
}

function keptContents({ configurations, histories }: ConfigurationHistoryNeeds, name: string) {
  const record = configurations.get(name)?.value;
  if (record === undefined) throw unknownConfiguration(name);
  return contentsOf(histories.get(name)?.value, record);
}

function contentNumbered(
  contents: readonly KeptContent[],
  { name, number }: { readonly name: string; readonly number: number },
): KeptContent {
  const content = contents.find((one) => one.number === number);
  if (content !== undefined) return content;
  const numbers = contents.map((one) => one.number);
  throw new DroverError(
    'DRV_REVISION_UNKNOWN',
    `configuration ${name} has no content ${number} in its history: there are ${numbers.join(', ')}`,
  );
}

function contentOf(
  { revisions }: ConfigurationHistoryNeeds,
  { number, revision }: KeptContent,
): Configuration {
  const content = revisions.get(revision)?.value;
  if (content !== undefined) return content;
  throw new DroverError(
    'DRV_REVISION_UNKNOWN',
    `content ${number} (revision ${revision}) is not kept any more`,
  );
}
