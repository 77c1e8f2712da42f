/** The frame of a screen: its head, its tabs, and the panels of its content. */
import type { ComponentChildren } from 'preact';

interface PageProps {
  readonly title: ComponentChildren;
  /** Counts or a state, shown beside the title. */
  readonly about?: ComponentChildren;
  /** Buttons at the right. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  /** True when the content has the whole height and scrolls inside. */
  readonly fill?: boolean;
}

export function Page({ title, about, actions, children, fill = false }: PageProps) {
  return (
    <div class={fill ? 'screen screen-fill' : 'screen'}>
      <header class="screen-head">
        <h1>{title}</h1>
        {about !== undefined && <div class="screen-about">{about}</div>}
        {actions !== undefined && <div class="bar-end">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A titled part of a screen on a surface of its own. */
export function Panel({ title, about, children }: Pick<PageProps, 'title' | 'about' | 'children'>) {
  return (
    <section class="surface panel">
      <header class="panel-head">
        <h2>{title}</h2>
        {about !== undefined && <div class="quiet">{about}</div>}
      </header>
      {children}
    </section>
  );
}

/** A fact with its name, in a `<dl class="facts">`. */
export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly { readonly id: string; readonly label: string; readonly href: string }[];
  /** The id of the tab that is shown. */
  readonly current: string;
}

/** Tabs with an address each, so that Back works and a tab can be linked to. */
export function Tabs({ label, tabs, current }: TabsProps) {
  return (
    <nav class="tabs d-flex gap-4" aria-label={label}>
      {tabs.map(({ id, label: word, href }) => (
        <a key={id} class="tab" href={href} aria-current={id === current ? 'page' : undefined}>
          {word}
        </a>
      ))}
    </nav>
  );
}
