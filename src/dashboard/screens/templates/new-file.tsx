/** A dialog that makes an empty file, and also the template if that is new. */
import { useSignal } from '@preact/signals';
import { NAME } from '../../../model/plain/name.js';
import { FormDialog } from '../../parts/dialog.js';
import { TextInput } from '../../parts/form.js';
import { useServices } from '../../services/services.js';
import { TemplateFiles } from './template-files.js';
import { text } from './text.js';
import { isGoodPath } from './tree.js';

interface NewFileProps {
  /** Undefined: the template is new, so the dialog asks for its name, too. */
  readonly template?: { readonly group: string; readonly name: string };
  readonly onClose: () => void;
}

export function NewFileDialog({ template, onClose }: NewFileProps) {
  const { api, router, toasts } = useServices();
  const group = useSignal(template?.group ?? '');
  const name = useSignal(template?.name ?? '');
  const path = useSignal('');
  const faults = {
    group: NAME.test(group.value) ? null : text.nameWrong,
    name: NAME.test(name.value) ? null : text.nameWrong,
    path: isGoodPath(path.value) ? null : text.pathWrong,
  };
  const create = async (): Promise<void> => {
    const target = { group: group.value, name: name.value };
    await new TemplateFiles(api, target).create(path.value, new Blob([]));
    toasts.done(text.created(path.value));
    onClose();
    router.go(['templates', target.group, target.name], { file: path.value });
  };
  const title = template === undefined ? text.create : text.newFile;
  return (
    <FormDialog
      title={title}
      action={title}
      isFaulty={Object.values(faults).some((fault) => fault !== null)}
      onSubmit={create}
      onClose={onClose}
    >
      {template === undefined && (
        <>
          <p class="quiet">{text.createHint}</p>
          <TextInput
            label={text.group}
            hint={text.nameHint}
            fault={faults.group}
            value={group}
            hasFocus
            isMono
          />
          <TextInput label={text.name} hint={text.nameHint} fault={faults.name} value={name} isMono />
        </>
      )}
      <TextInput
        label={template === undefined ? text.createFile : text.newFilePath}
        hint={template === undefined ? text.createFileHint : text.newFileHint}
        fault={faults.path}
        value={path}
        hasFocus={template !== undefined}
        isMono
      />
    </FormDialog>
  );
}
