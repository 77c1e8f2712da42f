/** Tabs with an address each, so that Back works and a tab can be linked to. */

interface Tab {
  readonly id: string;
  readonly label: string;
  readonly href: string;
  /** A number behind the word. */
  readonly count?: number;
}

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  /** The id of the tab that is shown. */
  readonly current: string;
}

export function Tabs({ label, tabs, current }: TabsProps) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ id, label: word, href, count }) => (
        <a key={id} class="tab" href={href} aria-current={id === current ? 'page' : undefined}>
          {word}
          {count !== undefined && <span class="quiet"> {count}</span>}
        </a>
      ))}
    </nav>
  );
}
