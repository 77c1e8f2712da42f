/** The badges of a node: its condition, whether it takes instances, and an action that it does not show yet. */
import { Badge, StateBadge } from '../../parts/state-badge.js';
import type { AskedOfNodes } from './asked.js';
import { type NodeEntry, standingOf } from './node.js';
import { text } from './text.js';

export function NodeBadges({ node, asked }: { readonly node: NodeEntry; readonly asked: AskedOfNodes }) {
  const pending = asked.of(node);
  return (
    <>
      <StateBadge state={node.condition} />
      {pending === undefined ? (
        <StandingBadge node={node} />
      ) : (
        <Badge tone="busy" label={text.pending[pending]} isPending />
      )}
    </>
  );
}

function StandingBadge({ node }: { readonly node: NodeEntry }) {
  const standing = standingOf(node);
  if (standing === null) return null;
  if (standing === 'draining')
    return <Badge tone="busy" label={text.standing.draining(node.drain?.left ?? 0)} />;
  return <Badge tone="still" label={text.standing[standing]} />;
}
