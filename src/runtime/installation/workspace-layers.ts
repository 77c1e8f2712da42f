/** Lays the templates of one instance over each other: decides which file comes from which tree. Pure. */
import { templateUnsafe } from '../../model/errors.js';
import type { PackedItem } from '../../templates/transfer/packs.js';
import type { TreeItem } from '../../templates/tree/tree.js';

/** A template that is ready to be copied. */
export interface Layer {
  /** `group/name`, for messages. */
  readonly label: string;
  readonly directory: string;
  /** The entries, parents before children. */
  readonly items: readonly PackedItem[];
}

/** A path of a working directory and the source that it is copied from. */
export interface WorkspaceItem extends TreeItem {
  /** The absolute path of the pack in the template cache that holds the file's content. */
  readonly source: string;
  /** Where the content begins in the pack. */
  readonly at: number;
  /** The template that the file comes from. */
  readonly label: string;
}

/**
 * Returns one item per path, parents before children. When two layers have a file at a path, the later layer wins.
 * Throws DRV_TEMPLATE_UNSAFE when one template has a file where another has a directory.
 */
export function mergeLayers(layers: readonly Layer[]): Map<string, WorkspaceItem> {
  const merged = new Map<string, WorkspaceItem>();
  for (const { label, directory, items } of layers)
    for (const item of items) {
      const below = merged.get(item.path);
      if (below !== undefined && below.kind !== item.kind) {
        throw templateUnsafe(
          `${item.path} is a ${below.kind} in template ${below.label} and a ${item.kind} in ${label}; ` +
            'rename one or install one of them only',
        );
      }
      const { path, kind, executable, size, place } = item;
      const source = `${directory}/${place?.pack ?? ''}`;
      merged.set(path, { path, kind, executable, size, source, at: place?.at ?? 0, label });
    }
  return merged;
}
