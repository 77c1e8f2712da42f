/** The frame of a signed-in page: navigation, banner, the screen of the address, palette and toasts. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { CLUSTER_HUES } from '../../model/plain/cluster-colors.js';
import { Button, ButtonLink, putting } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { Icon, Mark } from '../parts/icon.js';
import { Lazy } from '../parts/lazy.js';
import { Empty } from '../parts/notes.js';
import { Page } from '../parts/page.js';
import { text as parts } from '../parts/text.js';
import { exactTime } from '../parts/times.js';
import { hrefOf } from '../router/place.js';
import { useServices } from '../services/services.js';
import { type Found, mayShow, SCREENS, screenAt, screensFor } from './screens.js';
import { Side } from './side.js';
import { text } from './text.js';

const PREFETCH_MS = 3_000;

export function Shell() {
  const { session, router } = useServices();
  const open = useSignal<'menu' | 'palette' | 'help' | null>(null);
  const content = useRef<HTMLElement>(null);
  const found = screenAt(router.place.value);
  useKeys({ onCommands: putting(open, 'palette'), onHelp: putting(open, 'help') });
  useEffect(() => {
    // The other screens are fetched once the page is idle, so that they open without a connection, too.
    const timer = setTimeout(() => {
      for (const load of Object.values(SCREENS)) load().catch(() => undefined);
    }, PREFETCH_MS);
    return () => clearTimeout(timer);
  }, []);
  const title = found === undefined ? text.notFound : text.screens[found.name];
  useEffect(() => {
    document.title = `${[title, ...(found?.path ?? [])].join(' · ')} · ${text.product}`;
  });
  const find = session.can('ALL') && session.isUnrestricted ? text.commands : text.goTo;
  const side = <Side current={found?.name} onHelp={putting(open, 'help')} onDone={putting(open, null)} />;
  return (
    <div class="shell">
      <div class="skip">
        <Button onPress={() => content.current?.focus()}>{text.skip}</Button>
      </div>
      <header class="side">
        <a class="with-icon brand" href={hrefOf([])}>
          <Mark />
          {text.product}
        </a>
        <div class="side-body">{side}</div>
      </header>
      <search class="with-icon top">
        <Cluster />
        <div class="top-find">
          <Button hint={find} onPress={putting(open, 'palette')}>
            <Icon name="find" />
            <span>{find}</span>
            <kbd>{text.commandsKey}</kbd>
          </Button>
        </div>
        <div class="top-menu">
          <Button onPress={putting(open, 'menu')}>
            <Icon name="menu" />
            {text.menu}
          </Button>
        </div>
      </search>
      <main class="content" id="content" ref={content} tabIndex={-1}>
        <ConnectionBanner />
        <NewerBanner />
        <Content found={found} />
      </main>
      {open.value === 'menu' && (
        <Dialog title={text.menu} onClose={putting(open, null)}>
          <div class="side-sheet">{side}</div>
        </Dialog>
      )}
      {open.value === 'palette' && (
        <Lazy
          load={async () => (await import('../screens/palette/palette.js')).Palette}
          props={{ screens: screensFor(session), onClose: putting(open, null) }}
        />
      )}
      {open.value === 'help' && <KeyHelp onClose={putting(open, null)} />}
      <ToastList />
    </div>
  );
}

/** The cluster by name and colour, so that nobody acts on the wrong one, and whether the page is live. */
function Cluster() {
  const { session, live } = useServices();
  const { clusterName, clusterColor } = session.caller.value ?? {};
  useEffect(() => {
    const { style } = document.documentElement;
    if (clusterColor != null)
      style.setProperty('--cluster', `oklch(0.53 0.16 ${CLUSTER_HUES[clusterColor]})`);
  }, [clusterColor]);
  const isLive = live.connection.state.value.phase === 'live';
  return (
    <>
      <a class="top-mark" href={hrefOf([])} aria-label={text.toOverview}>
        <Mark />
      </a>
      <bdi class="cut cluster">{clusterName}</bdi>
      <span class={`with-icon top-live tone-${isLive ? 'good' : 'still'}`}>
        <Icon name={isLive ? 'good' : 'busy'} />
        {isLive ? text.live : text.notLive}
      </span>
    </>
  );
}

function Content({ found }: { readonly found: Found | undefined }) {
  const { session } = useServices();
  const back = <ButtonLink href={hrefOf([])}>{text.toOverview}</ButtonLink>;
  if (found === undefined)
    return (
      <Page title={text.notFound}>
        <Empty title={text.notFoundHint} action={back} />
      </Page>
    );
  const lacks = mayShow(session, found.name);
  if (lacks !== null)
    return (
      <Page title={text.screens[found.name]}>
        <Empty title={text.notAllowed} hint={text.notAllowedHint(lacks)} action={back} />
      </Page>
    );
  return (
    <Lazy
      key={found.name}
      load={async () => (await SCREENS[found.name]()).Screen}
      props={{ path: found.path }}
    />
  );
}

/** The list of toasts. Screen readers read each new toast aloud. */
function ToastList() {
  const { toasts } = useServices();
  return (
    <div class="toasts d-grid gap-2" role="status" aria-live="polite">
      {toasts.shown.value.map(({ id, kind, text: message }) => (
        <div key={id} class={`toast toast-${kind}`}>
          <span>{message}</span>
          <Button kind="quiet" onPress={() => toasts.close(id)}>
            {parts.close}
          </Button>
        </div>
      ))}
    </div>
  );
}

/** A dialog that lists the keyboard shortcuts. */
function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title={text.keys} onClose={onClose}>
      <dl class="keys">
        {text.keyHelp.map(({ keys, what }) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div class="foot">
        <Button onPress={onClose}>{parts.close}</Button>
      </div>
    </Dialog>
  );
}

/** Says how old the page's data is, and offers to connect at once. */
function ConnectionBanner() {
  const { live } = useServices();
  const state = live.connection.state.value;
  if (state.phase === 'idle' || state.phase === 'live') return null;
  // Show no banner at the first connect of a page: no data is shown yet that could be old.
  if (state.phase === 'connecting' && state.since === null) return null;
  return (
    <Banner action={text.connectNow} onPress={() => live.connection.wake()}>
      {state.since === null ? text.lostAtOnce : text.lost(exactTime(state.since))}
    </Banner>
  );
}

/** Says that Drover was updated while this tab was open. */
function NewerBanner() {
  const { isOld } = useServices();
  if (!isOld.value) return null;
  return (
    <Banner action={text.reload} onPress={() => location.reload()}>
      {text.newer}
    </Banner>
  );
}

function Banner(props: { readonly children: string; readonly action: string; readonly onPress: () => void }) {
  return (
    <div class="banner" role="status">
      <span>{props.children}</span>
      <Button onPress={props.onPress}>{props.action}</Button>
    </div>
  );
}

/**
 * The keyboard shortcuts of every screen. Shortcuts that are a single character do nothing while the operator types.
 */
interface Keys {
  readonly onCommands: () => void;
  readonly onHelp: () => void;
}

function useKeys({ onCommands, onHelp }: Keys): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const act = actionOf(event, { onCommands, onHelp });
      if (act === null) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  });
}

function actionOf(event: KeyboardEvent, { onCommands, onHelp }: Keys): (() => void) | null {
  const isCommand = event.ctrlKey || event.metaKey;
  if (isCommand) return event.key.toLowerCase() === 'k' ? onCommands : null;
  if (event.altKey || event.defaultPrevented || isTyping(event.target)) return null;
  if (event.key === '?') return onHelp;
  return event.key === '/' ? focusSearch() : null;
}

/** Returns the action that puts the cursor into the screen's search field; null: the screen has no search field. */
function focusSearch(): (() => void) | null {
  const field = document.querySelector<HTMLInputElement>('main input[type="search"]');
  return field === null ? null : () => field.focus();
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.closest('input, textarea, select, dialog') !== null;
}
