/** The list of templates, or the page of one template. */
import { text as parts } from '../../parts/text.js';
import type { ScreenProps } from '../screen.js';
import { TemplateList } from './list.js';
import './templates.css';
import { Empty } from '../../parts/notes.js';
import { Page, Tabs } from '../../parts/page.js';
import { hrefOf } from '../../router/place.js';
import { useTopic } from '../../services/services.js';
import { FilesTab } from './files-tab.js';
import { text } from './text.js';
import { UseTab } from './use-tab.js';

export function Screen({ path: [group, name, tab = 'files'] }: ScreenProps) {
  if (group === undefined || name === undefined) return <TemplateList />;
  return <TemplatePage key={`${group}/${name}`} group={group} name={name} tab={tab} />;
}

export interface TemplateName {
  readonly group: string;
  readonly name: string;
}

function TemplatePage({ group, name, tab }: TemplateName & { readonly tab: string }) {
  const store = useTopic('templates');
  void store.version.value;
  const key = `${group}/${name}`;
  const entry = store.get(key);
  if (entry === undefined && !store.isLoaded.value) return <p class="screen quiet">{parts.loading}</p>;
  if (entry === undefined)
    return <Empty title={text.unknown(key)} hint={text.unknownHint} link={['templates', text.toList]} />;
  const isLocal = entry.storage === 'local';
  const isUse = tab === 'use' || !isLocal;
  return (
    <Page
      title={
        <>
          <a href={hrefOf(['templates'])}>{text.title}</a> / <bdi class="mono">{key}</bdi>
        </>
      }
    >
      {isLocal && (
        <Tabs
          label={text.tabs}
          current={isUse ? 'use' : 'files'}
          tabs={[
            { id: 'files', label: text.tabFiles, href: hrefOf(['templates', group, name]) },
            { id: 'use', label: text.tabUse, href: hrefOf(['templates', group, name, 'use']) },
          ]}
        />
      )}
      {!isLocal && <Empty title={text.elsewhere(entry.storage)} hint={text.elsewhereHint} />}
      {isUse ? <UseTab template={{ group, name }} /> : <FilesTab template={{ group, name }} change={entry} />}
    </Page>
  );
}
