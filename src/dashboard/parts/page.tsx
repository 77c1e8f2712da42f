/** The head of a screen and its content. `fill`: the content has the whole height and scrolls inside. */
import type { ComponentChildren } from 'preact';

interface PageProps {
  readonly title: ComponentChildren;
  /** Counts or a state, shown beside the title. */
  readonly about?: ComponentChildren;
  /** Buttons at the right. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
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
export function Panel({
  title,
  about,
  children,
}: {
  readonly title: string;
  readonly about?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="panel">
      <header class="panel-head">
        <h2>{title}</h2>
        {about !== undefined && <div class="quiet">{about}</div>}
      </header>
      {children}
    </section>
  );
}
