/** The content of a configuration as text, with its faults. A key that may not change it can only read it. */

import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Api } from '../../../api/api-client.js';
import { EditedText } from '../../../parts/editor/edited-text.js';
import { useDrafts } from '../../../parts/editor/editing.js';
import { Failure } from '../../../parts/notes.js';
import { text as parts } from '../../../parts/text.js';
import type { Place } from '../../../router/place.js';
import { useAsked, useServices } from '../../../services/services.js';
import { exampleText, textOf } from '../examples.js';
import type { ConfigurationRow } from '../rows.js';
import { text } from '../text.js';
import { ContentCalls, type StoredContent } from './content.js';
import { EditForm } from './edit-form.js';
import { ConfigurationEditing } from './editing.js';

interface EditTabProps {
  readonly name: string;
  /** Undefined: the configuration is new and not saved yet. */
  readonly row: ConfigurationRow | undefined;
}

type Start = Omit<StoredContent, 'fileState' | 'file' | 'error'> & Partial<StoredContent>;

export function EditTab({ name, row }: EditTabProps) {
  const { api, router } = useServices();
  const start = useAsked<Start>(() => readStart(api, { name, row }, router.place.peek().query), [name]);
  const { value, error } = start.value;
  if (error !== null) return <Failure error={error} onRetry={start.again} />;
  if (value === undefined) return <p class="quiet">{parts.loading}</p>;
  return <Begun name={name} row={row} start={value} />;
}

function Begun({ name, row, start }: EditTabProps & { readonly start: Start }) {
  const { api, router } = useServices();
  const drafts = useDrafts();
  const editing = useMemo(() => {
    const edited = new EditedText(drafts, `configurations/${name}`, start);
    return new ConfigurationEditing(new ContentCalls(api, name), edited);
  }, [api, drafts, name, start]);
  const isBroken = row?.health.state === 'broken-file';
  // The revision in force says nothing of a broken file: its text is what is edited.
  const revision = isBroken ? undefined : row?.entry?.revision;
  // Somebody else wrote the revision when this page has neither read nor written it.
  const isNews = revision !== undefined && !editing.isBusy.value && !editing.edited.knows(revision);
  const isDirty = editing.edited.isDirty.value;
  const failure = useSignal<unknown>(null);
  useEffect(() => {
    if (!isNews || isDirty) return;
    editing.refresh().catch((error: unknown) => {
      failure.value = error;
    });
  }, [isNews, isDirty, editing, failure]);
  const { example, copy } = router.place.value.query;
  const wasBegun = example !== undefined || copy !== undefined;
  // Once the new configuration is saved, go to its own address, without the example or copy that it began with.
  useEffect(() => {
    if (revision !== undefined && wasBegun) router.go(['configurations', name]);
  }, [revision, wasBegun, router, name]);
  return (
    <>
      {failure.value !== null && <Failure error={failure.value} />}
      {start.file !== undefined && isBroken && <p class="notice">{text.brokenInEditor(start.file)}</p>}
      {start.file !== undefined && start.fileState === 'different' && (
        <p class="notice">{text.fileDiffers(start.file)}</p>
      )}
      <EditForm
        name={name}
        editing={editing}
        row={row}
        isChangedMeanwhile={isNews && isDirty}
        fault={start.error ?? null}
      />
    </>
  );
}

/** Reads the content in force, or the text of its broken file. For a new configuration: the example or the copy that it begins with. */
async function readStart(api: Api, { name, row }: EditTabProps, query: Place['query']): Promise<Start> {
  const { example = '', copy } = query;

  const stored = row === undefined ? null : await new ContentCalls(api, name).read();
  if (stored !== null) return stored;
  const copied = copy === undefined ? null : await new ContentCalls(api, copy).read();
  if (copied !== null) return { text: textOf({ ...JSON.parse(copied.text), name }), revision: null };
  return { text: exampleText(example, name) ?? exampleText('empty', name) ?? '', revision: null };
}
