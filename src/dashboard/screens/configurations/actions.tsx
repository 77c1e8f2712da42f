/** The actions on a configuration. Each that ends something says what it will do before it does it. */
import { signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { InstanceInfo } from '../../../model/instance.js';
import { surplusOf } from '../../../model/plain/surplus.js';
import type { ConfigurationContent } from '../../../operations/configuration-content.js';
import type { Topics } from '../../../watch-client/topics.js';
import { apiPath } from '../../api/api-client.js';
import { Button, ButtonLink } from '../../parts/button.js';
import { ConfirmButton, DialogButton, FormDialog } from '../../parts/dialog.js';
import { Choice, TextInput, Tick } from '../../parts/form.js';
import { hrefOf } from '../../router/place.js';
import { useEntries, useServices } from '../../services/services.js';
import { CreateDialog } from './create.js';
import type { ConfigurationRow } from './rows.js';
import { text } from './text.js';

interface ActionsProps {
  readonly rows: readonly ConfigurationRow[];
  readonly entry: Topics['configurations'];
  readonly isFrozen: boolean;
}

const MOST_NAMES = 200;
const MOST_INSTANCES = 100_000;

export function Actions({ rows, entry, isFrozen }: ActionsProps) {
  const { api, router, session, toasts } = useServices();
  const { name, revision, file } = entry;
  const isJob = entry.configuration.job !== undefined;
  const own = [...useEntries('instances').values()].filter((one) => one.configurationName === name);
  const more = own.length > MOST_NAMES ? [text.removedMore(own.length - MOST_NAMES)] : [];
  const names = [...own.slice(0, MOST_NAMES).map(({ id }) => id), ...more];
  const add = (): void =>
    void toasts.run(api.post('/instances', { body: { configurationName: name } }), () => text.added(name));
  const freeze = (): void => {
    const path = apiPath('configurations', name, 'freeze');
    const asked = isFrozen ? api.delete(path) : api.post(path, { body: {} });
    void toasts.run(asked, () => (isFrozen ? text.unfrozen(name) : text.isFrozen(name)));
  };
  const restart = async (): Promise<void> => {
    await api.post(`${apiPath('configurations', name)}/restart`);
    toasts.done(text.restarted(name));
  };
  const remove = async (): Promise<void> => {
    await api.delete(apiPath('configurations', name), { headers: { 'if-match': `"${revision}"` } });
    toasts.done(text.removed(name));
    router.go(['configurations']);
  };
  return (
    <>
      <ButtonLink href={hrefOf(['wall'], { configuration: name, view: 'one' })}>{text.log}</ButtonLink>
      {session.can('OPERATE') && isJob && (
        <DialogButton kind="main" dialog={(onClose) => <Run entry={entry} onClose={onClose} />}>
          {text.run}
        </DialogButton>
      )}
      {session.can('OPERATE') && <Button onPress={freeze}>{isFrozen ? text.unfreeze : text.freeze}</Button>}
      {session.can('OPERATE') && !isJob && (
        <>
          <Button onPress={add}>{text.add}</Button>
          <ConfirmButton
            title={text.restartTitle(name)}
            explanation={text.restartExplanation}
            names={names}
            action={text.restart}
            onConfirm={restart}
          />
        </>
      )}
      {session.can('CONFIGURE') && (
        <>
          <DialogButton dialog={(onClose) => <CreateDialog rows={rows} copyOf={name} onClose={onClose} />}>
            {text.duplicate}
          </DialogButton>
          {!isJob && (
            <DialogButton dialog={(onClose) => <Scale entry={entry} own={own} onClose={onClose} />}>
              {text.scale}
            </DialogButton>
          )}
          <ConfirmButton
            title={text.removeTitle(name)}
            explanation={text.removeExplanation(own.length)}
            names={own.length === 0 ? [file] : names}
            action={text.remove}
            isDanger
            onConfirm={remove}
          />
        </>
      )}
    </>
  );
}

/** Asks for the parameters of a job, starts a run, and goes to its log. */
function Run({ entry: { name, configuration }, onClose }: Pick<ScaleProps, 'entry' | 'onClose'>) {
  const { api, router } = useServices();
  const { parameters = {}, timeoutSeconds } = configuration.job ?? {};
  const fields = useMemo(() => Object.entries(parameters).map(fieldOf), []);
  const run = async (): Promise<void> => {
    const given = Object.fromEntries(fields.map(({ label, value }) => [label, value.value]));
    const path = `${apiPath('configurations', name)}/run`;
    const { id } = await api.post<InstanceInfo>(path, { body: { parameters: given } });
    onClose();
    router.go(['instances', id]);
  };
  return (
    <FormDialog
      title={text.runTitle(name)}
      action={text.run}
      isFaulty={fields.some(isMissing)}
      onSubmit={run}
      onClose={onClose}
    >
      <p>{text.runExplanation(timeoutSeconds)}</p>
      {fields.map(({ values, ...field }) =>
        values === undefined || values.some((value) => value.includes('*')) ? (
          <TextInput
            key={field.label}
            {...field}
            hint={values === undefined ? '' : text.runValues(values)}
            fault={isMissing(field) ? text.runMissing : null}
            isMono
          />
        ) : (
          <Choice key={field.label} {...field} options={optionsOf(values, field.usual)} />
        ),
      )}
    </FormDialog>
  );
}

type Parameter = NonNullable<Topics['configurations']['configuration']['job']>['parameters'][string];

function fieldOf([label, { default: usual, values }]: [string, Parameter]) {
  return { label, usual, values, value: signal(usual ?? '') };
}

function isMissing({ usual, value }: Pick<ReturnType<typeof fieldOf>, 'usual' | 'value'>): boolean {
  return usual === undefined && value.value === '';
}

/** The allowed values as choices. Nothing is chosen at first where the parameter has no usual value. */
function optionsOf(values: readonly string[], usual: string | undefined) {
  const all = usual === undefined ? ['', ...values] : values;
  return all.map((value) => ({ value, label: value }));
}

interface ScaleProps extends Pick<ActionsProps, 'entry'> {
  readonly own: readonly InstanceInfo[];
  readonly onClose: () => void;
}

function Scale({ entry: { name, configuration }, own, onClose }: ScaleProps) {
  const { api, session, toasts } = useServices();
  const wanted = useSignal(String(configuration.minimumServiceCount));
  const fault = faultOf(wanted.value, configuration.maximumServiceCount);
  const doesEnd = useSignal(false);
  const started = own.filter(({ state }) => state !== 'STOPPED');
  const surplus = fault === null ? surplusOf(started, Number(wanted.value)) : [];
  const scale = async (): Promise<void> => {
    const count = Number(wanted.value);
    const path = apiPath('configurations', name);
    const { content, revision } = await api.get<ConfigurationContent>(`${path}/file`);
    const body = { ...content, minimumServiceCount: count };
    await api.put(path, { body, headers: { 'if-match': `"${revision}"` } });
    if (doesEnd.value) for (const { id } of surplus) await api.delete(apiPath('instances', id));
    toasts.done(text.scaled(name, count));
    onClose();
  };
  return (
    <FormDialog
      title={text.scaleTitle(name)}
      action={text.scale}
      isFaulty={fault !== null}
      onSubmit={scale}
      onClose={onClose}
    >
      <TextInput
        label={text.scaleLabel}
        hint={text.scaleHint}
        fault={fault}
        inputMode="numeric"
        hasFocus
        value={wanted}
      />
      {surplus.length > 0 && session.can('OPERATE') && (
        <Tick label={text.endSurplus(surplus.length)} value={doesEnd} />
      )}
    </FormDialog>
  );
}

function faultOf(wanted: string, most: number | undefined): string | null {
  const count = Number(wanted);
  if (!/^\d+$/.test(wanted.trim()) || count > MOST_INSTANCES) return text.scaleWrong;
  return most !== undefined && count > most ? text.scaleOver(most) : null;
}
