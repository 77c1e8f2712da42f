/** One template: its files, the configurations that use it, and how far the nodes have fetched it. */
import { ButtonLink } from '../../parts/button.js';
import { Empty } from '../../parts/empty.js';
import { Page } from '../../parts/page.js';
import { Tabs } from '../../parts/tabs.js';
import { hrefOf } from '../../router/place.js';
import { useTopic } from '../../services/use-live.js';
import { FilesTab } from './files-tab.js';
import { text } from './text.js';
import { UseTab } from './use-tab.js';

export interface TemplateName {
  readonly group: string;
  readonly name: string;
}

export function TemplatePage({ group, name, tab }: TemplateName & { readonly tab: string }) {
  const store = useTopic('templates');
  void store.version.value;
  const key = `${group}/${name}`;
  const entry = store.get(key);
  if (entry === undefined && !store.isLoaded.value) return <p class="screen quiet">{text.loading}</p>;
  const back = <ButtonLink href={hrefOf(['templates'])}>{text.toList}</ButtonLink>;
  if (entry === undefined) return <Empty title={text.unknown(key)} hint={text.unknownHint} action={back} />;
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
