/** A dialog that asks for the name of a new configuration and for its first content, and leads to the editor. */
import { useSignal } from '@preact/signals';
import { NAME } from '../../../model/plain/name.js';
import { FormDialog } from '../../parts/dialog.js';
import { Choice, TextInput } from '../../parts/form.js';
import { useServices } from '../../services/services.js';
import type { ConfigurationRow } from './rows.js';
import { text } from './text.js';

const COPY = 'copy:';

interface CreateProps {
  readonly rows: readonly Pick<ConfigurationRow, 'name' | 'entry'>[];
  /** The configuration to copy. Absent: the person chooses what it begins with. */
  readonly copyOf?: string;
  readonly onClose: () => void;
}

export function CreateDialog({ rows, copyOf, onClose }: CreateProps) {
  const { router } = useServices();
  const name = useSignal('');
  const from = useSignal(copyOf === undefined ? 'game' : COPY + copyOf);
  const there = rows.filter(({ entry }) => entry !== null).map((row) => row.name);
  const fault = faultOf(name.value, there);
  const go = async (): Promise<void> => {
    onClose();
    router.go(['configurations', name.value, 'edit'], startOf(from.value));
  };
  return (
    <FormDialog
      title={copyOf === undefined ? text.create : text.duplicateTitle(copyOf)}
      action={text.createGo}
      isFaulty={fault !== null}
      onSubmit={go}
      onClose={onClose}
    >
      <TextInput
        label={text.createName}
        hint={text.createNameHint}
        fault={fault}
        value={name}
        isMono
        hasFocus
      />
      <Choice
        label={text.createFrom}
        hint={text.createHint}
        value={from}
        options={[
          ...Object.entries(text.examples).map(([value, label]) => ({ value, label })),
          ...there.map((one) => ({ value: COPY + one, label: text.copyOf(one) })),
        ]}
      />
    </FormDialog>
  );
}

function faultOf(name: string, there: readonly string[]): string | null {
  if (!NAME.test(name)) return text.createNameWrong;
  return there.includes(name) ? text.createNameTaken : null;
}

function startOf(choice: string): Record<string, string> {
  return choice.startsWith(COPY) ? { copy: choice.slice(COPY.length) } : { example: choice };
}
