/** The content of a configuration with another number of instances. */
import { DEFAULT_MINIMUM } from './configuration-defaults.js';

/** What `config scale` did. */
export interface ScaledConfiguration {
  readonly name: string;
  readonly before: number;
  readonly after: number;
}

type Content = Readonly<Record<string, unknown>>;

/** `content`: as a file says it, where the field may be missing. Other fields stay as and where they are. */
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
