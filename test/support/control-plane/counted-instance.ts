/** Instances as minimum-service counts them. */
import type { CountedInstance } from '../../../controllers/master/minimum-service/plan.js';

/** An instance that the enforcer made, that is up and needs no attention. */
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
