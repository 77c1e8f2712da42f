/** Changes of the template records for one master's directory. The leader makes them by compare-and-set. */
import { z } from 'zod';
import { invalidRequest } from '../../model/errors.js';
import { nameSchema } from '../../model/names.js';
import { type TemplateRecord, templateRecordSchema } from '../../model/template.js';
import { templateKey } from '../../store/keys.js';
import { MAX_OPERATIONS, type Operation } from '../../store/store.js';

const name = z.string().refine(
  (text) => {
    const parts = text.split('/');
    return parts.length === 2 && parts.every((part) => nameSchema.safeParse(part).success);
  },
  { error: 'must be <group>/<name>' },
);
const expectedRevision = z.int().min(0);
const { digest, commit } = templateRecordSchema.shape;

const editsSchema = z
  .array(
    z.discriminatedUnion('do', [
      z.object({ do: z.literal('put'), name, digest, commit, expectedRevision }),
      z.object({ do: z.literal('remove'), name, expectedRevision }),
    ]),
  )
  .min(1)
  .max(MAX_OPERATIONS);
export type TemplateEdit = z.output<typeof editsSchema>[number];

/** Reads the edits that another master sent. Throws DRV_REQUEST_INVALID. */
export function decodeTemplateEdits(question: unknown): TemplateEdit[] {
  const { data, error } = editsSchema.safeParse(question);
  if (data === undefined) throw invalidRequest(`no edits of templates: ${error.message}`);
  return data;
}

/** The store operations of the edits. `sourceNode`: the node whose directory they come from. */
export function templateOperations(edits: readonly TemplateEdit[], sourceNode: string): Operation[] {
  return edits.map((edit): Operation => {
    const key = templateKey(edit.name);
    const { expectedRevision: expected } = edit;
    if (edit.do === 'remove') return { do: 'remove', key, expectedRevision: expected };
    const { digest, commit } = edit;
    const value: TemplateRecord = { digest, sourceNode, ...(commit !== undefined && { commit }) };
    return expected === 0
      ? { do: 'create', key, value }
      : { do: 'update', key, value, expectedRevision: expected };
  });
}
