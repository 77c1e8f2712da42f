/** The navigation at the side; on a phone it is a sheet behind "Menu". */
import { Button } from '../parts/button.js';
import { Menu } from '../parts/menu.js';
import { useServices } from '../services/services.js';
import { THEMES } from '../services/theme.js';
import type { ScreenName } from './screen-names.js';
import { screensFor } from './screens.js';
import { text } from './text.js';

interface SideProps {
  readonly current: ScreenName | undefined;
  readonly onCommands: () => void;
  readonly onHelp: () => void;
  /** Called after a choice, so that a sheet closes. */
  readonly onDone: () => void;
}

export function Side({ current, onCommands, onHelp, onDone }: SideProps) {
  const { session } = useServices();
  const marked = current === 'instance' ? 'instances' : current;
  return (
    <>
      <nav aria-label={text.navigation}>
        <ul class="side-links">
          {screensFor(session).map(({ name, label, href }) => (
            <li key={name}>
              <a
                class="side-link"
                href={href}
                aria-current={name === marked ? 'page' : undefined}
                onClick={onDone}
              >
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="side-foot">
        <Button onPress={onCommands}>
          {session.can('ALL') && session.isUnrestricted ? text.commands : text.goTo}{' '}
          <kbd>{text.commandsKey}</kbd>
        </Button>
        <Button kind="quiet" onPress={onHelp}>
          {text.keys} <kbd>{text.keysKey}</kbd>
        </Button>
        <Account />
      </div>
    </>
  );
}

function Account() {
  const { session, theme, toasts } = useServices();
  const caller = session.caller.value;
  return (
    <>
      <Menu
        label={`${text.theme.label}: ${text.theme[theme.value]}`}
        kind="quiet"
        items={THEMES.map((name) => ({
          label: text.theme[name],
          isChecked: name === theme.value,
          onPress: () => {
            theme.value = name;
          },
        }))}
      />
      {caller !== null && <p class="side-who quiet">{text.signedInAs(caller.key, caller.scope)}</p>}
      <Button kind="quiet" onPress={() => void toasts.run(session.signOut())}>
        {text.signOut}
      </Button>
    </>
  );
}
