/** A banner for a lost connection: it says how old the page's data is, and offers to connect at once. */
import { Button } from '../parts/button.js';
import { exactTime } from '../parts/time.js';
import { useServices } from '../services/services.js';
import { text } from './text.js';

export function ConnectionBanner() {
  const { live } = useServices();
  const state = live.connection.state.value;
  if (state.phase === 'idle' || state.phase === 'live') return null;
  // The first connect of a page needs no banner: nothing is shown yet that could be old.
  if (state.phase === 'connecting' && state.since === null) return null;
  return (
    <div class="banner" role="status">
      <span>{state.since === null ? text.lostAtOnce : text.lost(exactTime(state.since))}</span>
      <Button onPress={() => live.connection.wake()}>{text.connectNow}</Button>
    </div>
  );
}
