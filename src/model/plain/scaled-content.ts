/** The content of a configuration with another number of instances. */
import { DEFAULT_MINIMUM } from './configuration-defaults.js';

/** The result of `config scale`. */
export interface ScaledConfiguration {
  readonly name: string;
  readonly before: number;
  readonly after: number;
}

type Content = Readonly<Record<string, unknown>>;

/** `content`: as a file has it, so the field may be missing. All other fields keep their values and their order. */
export function withMinimum(
  content: Content,
  count: number,
): { readonly before: number; readonly content: Content } {
  const { minimumServiceCount: before } = content;
  return {
    before: typeof before === 'number' ? before : DEFAULT_MINIMUM,
    content: { ...content, minimumServiceCount: count },
  };
}
