/** Shows the files to be uploaded and the files that they replace; then the progress, and what failed. */
import { useSignal } from '@preact/signals';
import { Button } from '../../parts/button.js';
import { Dialog, FormDialog } from '../../parts/dialog.js';
import { TextInput, Tick } from '../../parts/form.js';
import { Meter } from '../../parts/meter.js';
import { text as parts } from '../../parts/text.js';
import { visibleText } from '../../parts/words/visible-text.js';
import { useServices } from '../../services/services.js';
import type { TemplateFiles } from './template-files.js';
import { text } from './text.js';
import { UploadJob } from './upload-job.js';
import { type ChosenFile, isZip, type PlannedUpload, planUpload } from './upload-plan.js';

interface UploadDialogProps {
  readonly files: TemplateFiles;
  readonly chosen: readonly ChosenFile[];
  readonly present: ReadonlySet<string>;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

const MOST_NAMES = 200;

export function UploadDialog(props: UploadDialogProps) {
  const { files, chosen, present, onChanged, onClose } = props;
  const { toasts } = useServices();
  const into = useSignal('');
  const unpacksZips = useSignal(true);
  const job = useSignal<UploadJob | null>(null);
  const plan = planUpload({ chosen, present, into: into.value, unpacksZips: unpacksZips.value });
  const start = async (): Promise<void> => {
    const started = new UploadJob(files, plan);
    job.value = started;
    await started.run();
    const { done, failures } = started.state.value;
    if (done > 0) {
      onChanged();
      toasts.done(text.uploadDone(done));
    }
    if (failures.length === 0) onClose();
  };
  if (job.value !== null) return <Running job={job.value} onClose={onClose} />;
  const replaced = plan.filter((one) => one.do === 'replace').length;
  return (
    <FormDialog
      title={text.uploadTitle(chosen.length)}
      action={text.uploadGo}
      onSubmit={start}
      onClose={onClose}
    >
      <PlanList plan={plan} />
      {chosen.some(({ path }) => isZip(path)) && <Tick label={text.unpack} value={unpacksZips} />}
      {plan.some((one) => one.do !== 'unpack') && (
        <TextInput label={text.into} hint={text.intoHint} value={into} isMono />
      )}
      {replaced > 0 && <p class="notice">{text.replacing(replaced)}</p>}
    </FormDialog>
  );
}

function PlanList({ plan }: { readonly plan: readonly PlannedUpload[] }) {
  return (
    <ul class="names">
      {plan.slice(0, MOST_NAMES).map(({ path, file, do: how }) => (
        <li key={path} class="upload-line">
          <bdi class="mono">{visibleText(path)}</bdi>
          <span class="quiet">
            {how === 'create' ? '' : `${how === 'replace' ? text.replaces : text.unpacks}, `}
            {text.size(file.size)}
          </span>
        </li>
      ))}
      {plan.length > MOST_NAMES && <li class="quiet">{text.moreFiles(plan.length - MOST_NAMES)}</li>}
    </ul>
  );
}

function Running({ job, onClose }: { readonly job: UploadJob; readonly onClose: () => void }) {
  const { phase, done, sentBytes, failures } = job.state.value;
  const end = (): void => {
    job.cancel();
    onClose();
  };
  return (
    <Dialog
      title={text.uploading(done, job.plan.length)}
      onClose={phase === 'over' ? onClose : () => undefined}
    >
      <Meter
        label={text.uploadProgress}
        value={sentBytes}
        most={Math.max(1, job.allBytes)}
        text={text.progressOf(sentBytes, job.allBytes)}
      />
      {failures.length > 0 && (
        <section class="failure" aria-label={text.uploadFailed}>
          <div>
            <h3>{text.uploadFailed}</h3>
            <ul>
              {failures.map(({ path, why }) => (
                <li key={path}>
                  <bdi class="mono">{visibleText(path)}</bdi>: <bdi>{why}</bdi>
                </li>
              ))}
            </ul>
          </div>
        </section>
      )}
      <div class="foot">
        <Button onPress={end}>{phase === 'over' ? parts.close : text.cancel}</Button>
      </div>
    </Dialog>
  );
}
