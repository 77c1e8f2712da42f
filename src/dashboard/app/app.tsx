/** The whole page: the shell for an operator who is signed in, else the sign-in. */
import { useEffect } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { Empty } from '../parts/empty.js';
import { SignIn } from '../screens/sign-in/sign-in.js';
import { useServices } from '../services/services.js';
import { Shell } from './shell.js';
import { text } from './text.js';

export function App() {
  const { session, live } = useServices();
  const state = session.state.value;
  const isIn = state.phase === 'in';
  useEffect(() => {
    if (!isIn) return;
    live.start();
    return () => live.stop();
  }, [isIn, live]);
  switch (state.phase) {
    case 'starting':
      return <p class="center quiet">{text.connecting}</p>;
    case 'unreachable':
      return (
        <main class="center">
          <Empty
            title={text.unreachableTitle}
            hint={state.problem}
            action={<Button onPress={() => void session.start(null)}>{text.connectNow}</Button>}
          />
        </main>
      );
    case 'out':
      return <SignIn reason={state.reason} />;
    case 'in':
      return <Shell />;
  }
}
