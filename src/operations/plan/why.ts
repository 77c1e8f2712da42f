/** Says in words what a plan does to one configuration. Pure. */
import { type ChangedField, strongestClass } from '../../model/field-class.js';
import { countText, listText } from '../../model/words.js';
import type { PlannedConfiguration } from './change-plan.js';
import type { ServiceForecast } from './forecast.js';

interface Planned extends Pick<PlannedConfiguration, 'name' | 'action' | 'fileState'> {
  readonly fields: readonly ChangedField[];
  readonly service: ServiceForecast;
}

const MOST_NAMED = 5;

/** The sentences, the most important first. */
export function whyOf(planned: Planned): string {
  const sentences = [...happens(planned.service), ...keeps(planned)];
  if (sentences.length === 0) sentences.push(NOTHING[planned.action]);
  return sentences.join(' ');
}

const NOTHING: Readonly<Record<Planned['action'], string>> = {
  create: 'No instance is made: minimumServiceCount is 0.',
  change: 'No instance is touched.',
  delete: 'There are no instances of it.',
  unchanged: 'Nothing changes.',
};

function* happens({ create, replace, restart, stop, waitForPlayers }: ServiceForecast): Generator<string> {
  if (create > 0) yield `${countText(create, 'instance is', 'instances are')} created.`;
  if (replace > 0) yield `${countText(replace, 'instance is', 'instances are')} replaced, step by step.`;
  if (restart > 0) yield `${countText(restart, 'instance is', 'instances are')} restarted in place.`;
  if (stop > 0) yield `${countText(stop, 'instance is', 'instances are')} stopped or removed.`;
  if (waitForPlayers > 0)
    yield `${countText(waitForPlayers, 'of them has', 'of them have')} players, who are waited for.`;
}

function* keeps({
  name,
  action,
  fields,
  fileState,
  service: { keep, older, onPromotion, heldBack },
}: Planned): Generator<string> {
  if (action === 'change' && fileState !== 'same' && fields.length === 0)
    yield 'Its file is written anew: the content stays as it is in force.';
  if (heldBack !== null) {
    yield `This content is held back, so nothing is made from it: ${heldBack}. \`rollout retry ${name}\` tries it once more.`;
    return;
  }
  if (onPromotion > 0)
    yield `${countText(onPromotion, 'more instance follows', 'more instances follow')} once the canaries are promoted.`;
  if (action === 'delete' && keep > 0)
    yield `${countText(keep, 'instance goes', 'instances go')} on without a configuration until deleted.`;
  else if (older > 0)
    yield `${countText(older, 'instance goes', 'instances go')} on with ${olderContent(fields)}.`;
}

function olderContent(fields: readonly ChangedField[]): string {
  const decisive = strongestClass(fields);
  if (decisive === null) return 'an older content';
  const paths = fields.filter((field) => field.class === decisive).map(({ path }) => path);
  return `the older content: the new one is for instances made afterwards (${listText(paths, MOST_NAMED)})`;
}
