/** Lays the templates of one instance over each other: decides which file comes from which tree. Pure. */
import { DroverError } from '../../model/errors.js';
import type { PackedItem } from '../../templates/transfer/packs.js';
import type { TreeItem } from '../../templates/tree/tree.js';

/** One template, ready to be copied. */
export interface Layer {
  /** `group/name`, for messages. */
  readonly label: string;
  readonly directory: string;
  /** Parents before children. */
  readonly items: readonly PackedItem[];
}

/** One path of a working directory and what it is copied from. */
export interface WorkspaceItem extends TreeItem {
  /** Absolute path of the pack in the template cache that has the content of the file. */
  readonly source: string;
  /** Where the content begins in the pack. */
  readonly at: number;
  /** The template it comes from. */
  readonly label: string;
}

/**
 * One item per path, parents before children. Of two files at one path the later layer's wins. Throws
 * DRV_TEMPLATE_UNSAFE when one template has a file where another has a directory.
 */
export function mergeLayers(layers: readonly Layer[]): Map<string, WorkspaceItem> {
  const merged = new Map<string, WorkspaceItem>();
  for (const { label, directory, items } of layers) {
    for (const item of items) {
      const below = merged.get(item.path);
      if (below !== undefined && below.kind !== item.kind) {
        throw new DroverError(
          'DRV_TEMPLATE_UNSAFE',
          `${item.path} is a ${below.kind} in template ${below.label} and a ${item.kind} in ${label}; ` +
            'rename one or install one of them only',
        );
      }
      const { path, kind, executable, size, place } = item;
      const source = `${directory}/${place?.pack ?? ''}`;
      merged.set(path, { path, kind, executable, size, source, at: place?.at ?? 0, label });
    }
  }
  return merged;
}
