/** The list of all configurations, or the page of one. */
import type { ScreenProps } from '../screen.js';
import { ConfigurationPage } from './configuration-page.js';
import './configurations.css';
import { ConfigurationList } from './list.js';

export function Screen({ path: [name, tab = 'state'] }: ScreenProps) {
  if (name === undefined) return <ConfigurationList />;
  return <ConfigurationPage key={name} name={name} tab={tab} />;
}
