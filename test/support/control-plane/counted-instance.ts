/** Instances as minimum-service counts them. */
import type { CountedInstance } from '../../../controllers/master/minimum-service/plan.js';

/** One that the enforcer made, is up, and stands in nobody's way. */
export function counted(id: string, fields: Partial<CountedInstance> = {}): CountedInstance {
  return {
    id,
    phase: 'run',
    state: 'ONLINE',
    static: false,
    createdAt: 0,
    knowledge: 'present',
    node: 'connected',
    isDraining: false,
    maker: 'enforcer',
    players: 'none',
    replaces: null,
    ...fields,
  };
}
