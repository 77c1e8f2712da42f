/** Keys, sessions and the audit trail, each under an address of its own. */
import { Page, Tabs } from '../../parts/page.js';
import { hrefOf } from '../../router/place.js';
import { useServices } from '../../services/services.js';
import type { ScreenProps } from '../screen.js';
import { AuditTab } from './audit/audit-tab.js';
import { KeysTab } from './keys/keys-tab.js';
import { SessionsTab } from './sessions-tab.js';
import { text } from './text.js';

const TABS = {
  keys: { label: text.keys, Tab: KeysTab },
  sessions: { label: text.sessions, Tab: SessionsTab },
  audit: { label: text.audit, Tab: AuditTab },
} as const;
type TabName = keyof typeof TABS;

export function Screen({ path: [asked] }: ScreenProps) {
  const { session } = useServices();
  // A key that is restricted to some configurations may read neither keys nor the audit trail.
  const names: readonly TabName[] = session.isUnrestricted ? ['keys', 'sessions', 'audit'] : ['sessions'];
  const current = names.find((name) => name === asked) ?? names[0] ?? 'sessions';
  const { Tab } = TABS[current];
  return (
    <Page title={text.title} fill={current === 'audit'}>
      <Tabs
        label={text.tabs}
        current={current}
        tabs={names.map((id) => ({ id, label: TABS[id].label, href: hrefOf(['access', id]) }))}
      />
      <Tab />
    </Page>
  );
}
