/** The content of a configuration with another number of instances. */
import { DEFAULT_MINIMUM } from './configuration-defaults.js';

/** The result of `config scale`. */
export interface ScaledConfiguration {
  readonly name: string;
  readonly before: number;
  readonly after: number;
  /** The end of instances above the new minimum: they stay, go when players have left, or go at once. */
  readonly above: 'stay' | 'go-empty' | 'go';
  /** The ids of the surplus that was ended now, as asked for; absent: nobody asked. */
  readonly ended?: readonly string[];
  /** The consequence of the write for a git work tree around the file; null: there is none. */
  readonly note: string | null;
}

type Content = Readonly<Record<string, unknown>>;

/** `content`: as a file has it, so the field may be missing. All other fields keep their values and their order. */
export function withMinimum(
  content: Content,
  count: number,
): Pick<ScaledConfiguration, 'before' | 'above'> & { readonly content: Content } {
  const { minimumServiceCount: before, surplus, update } = content;
  const isIgnoring = typeof update === 'object' && Reflect.get(update ?? {}, 'players') === 'ignore';
  return {
    above: surplus !== 'remove' ? 'stay' : isIgnoring ? 'go' : 'go-empty',
    before: typeof before === 'number' ? before : DEFAULT_MINIMUM,
    content: { ...content, minimumServiceCount: count },
  };
}
