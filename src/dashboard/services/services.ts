/** The services of every screen. `main.tsx` builds them once; `useServices` gets them anywhere below the page. */
import type { Signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Api } from '../api/api-client.js';
import type { Live } from '../live/live.js';
import type { Router } from '../router/router.js';
import type { Session } from '../session/session.js';
import type { PageBuild } from './page-build.js';
import type { Theme } from './theme.js';
import type { Toasts } from './toasts.js';

export interface Services {
  readonly api: Api;
  readonly session: Session;
  readonly live: Live;
  readonly router: Router;
  readonly toasts: Toasts;
  readonly theme: Signal<Theme>;
  readonly build: PageBuild;
  /** The time of this computer, renewed each second while the tab is seen. */
  readonly clock: Signal<number>;
}

export const ServicesContext = createContext<Services | null>(null);

export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (services === null) throw new Error('useServices is called outside of the page');
  return services;
}
