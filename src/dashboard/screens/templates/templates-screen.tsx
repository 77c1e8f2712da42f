/** The list of templates, or the page of one. */
import type { ScreenProps } from '../screen.js';
import { TemplateList } from './list.js';
import { TemplatePage } from './template-page.js';
import './templates.css';

export function Screen({ path: [group, name, tab = 'files'] }: ScreenProps) {
  if (group === undefined || name === undefined) return <TemplateList />;
  return <TemplatePage key={`${group}/${name}`} group={group} name={name} tab={tab} />;
}
