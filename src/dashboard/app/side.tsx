/** The navigation at the side; on a phone it is a sheet behind "Menu". */
import { Button, putting } from '../parts/button.js';
import { Icon } from '../parts/icon.js';
import { Menu } from '../parts/menu.js';
import { useServices } from '../services/services.js';
import { THEMES } from '../services/theme.js';
import type { ScreenName } from './screen-names.js';
import { screensFor } from './screens.js';
import { text } from './text.js';

interface SideProps {
  readonly current: ScreenName | undefined;
  readonly onHelp: () => void;
  /** Called after a choice, so that a sheet closes. */
  readonly onDone: () => void;
}

export function Side({ current, onHelp, onDone }: SideProps) {
  const { session } = useServices();
  const { nodeId, version } = session.caller.value ?? {};
  const marked = current === 'instance' ? 'instances' : current;
  return (
    <>
      <nav aria-label={text.navigation}>
        <ul class="side-links">
          {screensFor(session).map(({ name, label, href }) => (
            <li key={name}>
              <a
                class="with-icon side-link"
                href={href}
                aria-current={name === marked ? 'page' : undefined}
                onClick={onDone}
              >
                <Icon name={name} />
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="side-foot d-grid gap-2">
        <Button kind="quiet" onPress={onHelp}>
          {text.keys} <kbd>{text.keysKey}</kbd>
        </Button>
        <Account />
        <p class="side-who quiet">{`${version} · ${nodeId}`}</p>
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
          onPress: putting(theme, name),
        }))}
      />
      {caller !== null && <p class="side-who quiet">{text.signedInAs(caller.key, caller.scope)}</p>}
      <Button kind="quiet" onPress={() => void toasts.run(session.signOut())}>
        {text.signOut}
      </Button>
    </>
  );
}
