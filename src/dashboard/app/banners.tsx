/** The banners above a screen: a lost connection, and a page that is older than the server. */
import { Button } from '../parts/button.js';
import { exactTime } from '../parts/time.js';
import { useServices } from '../services/services.js';
import { text } from './text.js';

/** Says how old the page's data is, and offers to connect at once. */
export function ConnectionBanner() {
  const { live } = useServices();
  const state = live.connection.state.value;
  if (state.phase === 'idle' || state.phase === 'live') return null;
  // The first connect of a page needs no banner: nothing is shown yet that could be old.
  if (state.phase === 'connecting' && state.since === null) return null;
  return (
    <Banner action={text.connectNow} onPress={() => live.connection.wake()}>
      {state.since === null ? text.lostAtOnce : text.lost(exactTime(state.since))}
    </Banner>
  );
}

/** Says that Drover was updated while this tab was open. */
export function NewerBanner() {
  const { build } = useServices();
  if (!build.isOld.value) return null;
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
