/** Builds the parts of the page and shows it. */
import './styles/tokens.css';
import './styles/base.css';
import './styles/layout.css';
import './styles/parts.css';
import './styles/grid.css';
import './styles/shell.css';
import { signal } from '@preact/signals';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { Shell } from './app/shell.js';
import { text } from './app/text.js';
import { Live } from './live/live.js';
import { Button } from './parts/button.js';
import { Empty } from './parts/notes.js';
import { Router } from './router/router.js';
import { SignIn } from './screens/sign-in/sign-in.js';
import { buildOf, watchBuild } from './services/page-build.js';
import { type Services, ServicesContext, useServices } from './services/services.js';
import { keepTheme } from './services/theme.js';
import { Toasts } from './services/toasts.js';
import { Session } from './session/session.js';

const SECOND_MS = 1_000;

/**
 * Takes the one-time code out of the address. It must not stay there: addresses are copied, and stay in the history.
 */
function takeCode(): string | null {
  const code = /^#code=([^&]+)/.exec(location.hash)?.[1];
  if (code === undefined) return null;
  history.replaceState(null, '', '#/');
  return decodeURIComponent(code);
}

function makeServices(): Services {
  // The address is relative, because a proxy may put the page below a path.
  const session = new Session(new URL('../api/', document.baseURI).href, sessionStorage);
  const live = new Live(session);
  const clock = signal(Date.now());
  setInterval(() => {
    if (!document.hidden) clock.value = Date.now();
  }, SECOND_MS);
  return {
    api: session.api,
    session,
    live,
    router: new Router(window),
    toasts: new Toasts(),
    theme: keepTheme(document.documentElement, localStorage),
    isOld: watchBuild(buildOf(document.documentElement.outerHTML), readPage, live.connection.state),
    clock,
  };
}

async function readPage(): Promise<string> {
  const page = await fetch(new URL('.', document.baseURI), { cache: 'no-store', credentials: 'omit' });
  return await page.text();
}

const page = document.getElementById('page');
if (page === null) throw new Error('index.html has no element "page"');
const code = takeCode();
const services = makeServices();
void services.session.start(code);
render(
  <ServicesContext.Provider value={services}>
    <App />
  </ServicesContext.Provider>,
  page,
);

/** The shell for an operator who is signed in, else the sign-in. */
function App() {
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
