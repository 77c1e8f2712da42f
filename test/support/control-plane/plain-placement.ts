/** Placement without shortlists: it looks at every node, ports included. The shortlists must give the same answers. */
import { candidateOf, questionOf, withPorts } from '../../../controllers/master/placement/candidates.js';
import {
  type Candidate,
  checkConditions,
  type Needs,
  summarise,
} from '../../../controllers/master/placement/conditions.js';
import type { Refusal, ShortlistSources } from '../../../controllers/master/placement/shortlist.js';
import { isBefore, rankOf } from '../../../controllers/master/placement/shortlist-entry.js';
import type { Configuration, PlacementOrder } from '../../../src/model/configuration.js';
import type { NamedPort } from '../../../src/model/fields/ports.js';

interface PlainAnswer {
  readonly choice: Candidate | undefined;
  readonly refusal: Refusal;
}

/** The answer for an instance with these needs. */
export function plainAnswer(
  needs: Needs,
  candidates: readonly Candidate[],
  order?: PlacementOrder,
): PlainAnswer {
  const fits = checkConditions(needs, candidates);
  const fitting = fits.filter(({ failed }) => failed === undefined).map(({ node }) => node);
  const [first] = fitting.toSorted((a, b) =>
    isBefore(rankOf(a, needs.ramMB, order), rankOf(b, needs.ramMB, order)) ? -1 : 1,
  );
  const { message, conditions } = summarise(needs, fits);
  const refusal: Refusal = {
    message:
      fits.length === 0
        ? '0/0 nodes fit: no node has joined the cluster yet'
        : `0/${fits.length} nodes fit: ${message}`,
    conditions: fits.length === 0 ? ['no-node'] : conditions,
    hasBusyPorts: fits.some(({ node, failed }) => failed?.code === 'port' && node.busyPorts > 0),
  };
  return { choice: fitting.find(({ nodeId }) => nodeId === needs.home?.nodeId) ?? first, refusal };
}

/** The answer for an instance of this content, with the fleet as it is now. */
export function plainAnswerNow(
  sources: ShortlistSources,
  configuration: Configuration,
  home: (NonNullable<Needs['home']> & { readonly ports: readonly NamedPort[] }) | null,
): PlainAnswer {
  const question = questionOf(configuration);
  const candidates = [...sources.nodes.entries()].map(([nodeId, { value }]) =>
    withPorts(sources, question, candidateOf(sources, question, value), {
      ports: home?.nodeId === nodeId ? home.ports : [],
    }),
  );
  return plainAnswer({ ...question, home }, candidates, configuration.placement);
}
