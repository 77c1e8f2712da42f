/** What can happen to a control plane under test, as values that a property test makes and prints. */
import type { InstanceState } from '../../src/model/instance.js';

export interface ServiceShape {
  readonly minimum: number;
  readonly maximum: number | undefined;
  readonly ports: { readonly min: number; readonly max: number } | undefined;
  readonly ramMB: number;
  readonly static: boolean;
}

/** `pick` chooses among the instances, `node` among the nodes, in the order in which they came. */
export type WorldOperation =
  | { readonly do: 'put'; readonly name: string; readonly shape: ServiceShape }
  | { readonly do: 'drop'; readonly name: string }
  | { readonly do: 'create'; readonly name: string }
  | { readonly do: 'start' | 'stop' | 'restart' | 'delete' | 'toggle-stubborn'; readonly pick: number }
  | {
      readonly do: 'quickly';
      readonly pick: number;
      readonly targets: readonly ('start' | 'stop' | 'restart')[];
    }
  | { readonly do: 'put-state'; readonly pick: number; readonly state: InstanceState }
  | { readonly do: 'crash'; readonly pick: number; readonly code: number }
  | { readonly do: 'hold-port' | 'free-port'; readonly node: number; readonly port: number }
  | { readonly do: 'break-starts' | 'mend-starts' | 'hide-runtime' | 'show-runtime'; readonly node: number }
  | { readonly do: 'replace-wrapper' | 'silence' | 'heal' | 'reset'; readonly node: number }
  | { readonly do: 'replace-master' | 'join' | 'fill-disk' | 'empty-disk' };

/** How long each takes, in ms of the virtual clock. */
export interface WorldSpeed {
  readonly storeMs: number;
  readonly installMs: number;
  readonly startMs: number;
}
