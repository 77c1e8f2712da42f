/** The tree of files. Folders open and close; a search lists all matching files. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { SearchInput } from '../../parts/form.js';
import { Empty } from '../../parts/notes.js';
import { visibleText } from '../../parts/words/visible-text.js';
import { hrefOf } from '../../router/place.js';
import { RemoveFiles } from './remove-files.js';
import type { TemplateFiles } from './template-files.js';
import { text } from './text.js';
import { type Folder, foldersAbove, treeOf } from './tree.js';

interface FileTreeProps {
  readonly files: TemplateFiles;
  readonly paths: readonly string[];
  /** The file that is shown. */
  readonly current: string | undefined;
  /** The path of the template's page, for links. */
  readonly hrefPath: readonly string[];
  readonly onChanged: () => void;
}

/** The most entries of a folder that are shown; further ones are counted, and the search finds them. */
const MOST_SHOWN = 300;
/** A template with at most so many files is shown with all folders open. */
const FEW = 40;

export function FileTree(props: FileTreeProps) {
  const { paths, current } = props;
  const find = useSignal('');
  const root = useMemo(() => treeOf(paths), [paths]);
  const toggled = useSignal<ReadonlyMap<string, boolean>>(new Map());
  const above = current === undefined ? [] : foldersAbove(current);
  const isOpen = (path: string): boolean =>
    toggled.value.get(path) ?? (paths.length <= FEW || above.includes(path));
  const toggle = (path: string): void => {
    toggled.value = new Map(toggled.value).set(path, !isOpen(path));
  };
  if (paths.length === 0)
    return (
      <div class="surface template-tree">
        <Empty title={text.noFiles} hint={text.noFilesHint} />
      </div>
    );
  const word = find.value.toLowerCase();
  return (
    <div class="surface template-tree">
      <SearchInput
        label={text.findFile}
        hint={text.findFile}
        value={find.value}
        onInput={(value) => {
          find.value = value;
        }}
      />
      {word === '' ? (
        <FolderList folder={root} isOpen={isOpen} onToggle={toggle} tree={props} />
      ) : (
        <Found paths={paths.filter((path) => path.toLowerCase().includes(word))} tree={props} />
      )}
    </div>
  );
}

interface FolderListProps {
  readonly folder: Folder;
  readonly isOpen: (path: string) => boolean;
  readonly onToggle: (path: string) => void;
  readonly tree: FileTreeProps;
}

function FolderList({ folder, isOpen, onToggle, tree }: FolderListProps) {
  const more = folder.folders.length + folder.files.length - MOST_SHOWN;
  const files = folder.files.slice(0, Math.max(0, MOST_SHOWN - folder.folders.length));
  return (
    <ul>
      {folder.folders.slice(0, MOST_SHOWN).map((one) => (
        <li key={one.path}>
          <div class="tree-folder d-flex items-center">
            <button
              type="button"
              class="tree-line d-flex flex-1 items-center gap-2 min-w-0"
              aria-expanded={isOpen(one.path)}
              onClick={() => onToggle(one.path)}
            >
              <span aria-hidden="true">{isOpen(one.path) ? '▾' : '▸'}</span>
              <bdi class="tree-name">{visibleText(one.name)}</bdi>
              <span class="quiet">{text.inFolder(one.count)}</span>
            </button>
            <RemoveFiles
              kind="quiet"
              hint={text.removeFolder(one.path)}
              files={tree.files}
              pathsOf={() => tree.paths.filter((path) => path.startsWith(`${one.path}/`))}
              onRemoved={tree.onChanged}
            />
          </div>
          {isOpen(one.path) && <FolderList folder={one} isOpen={isOpen} onToggle={onToggle} tree={tree} />}
        </li>
      ))}
      {files.map(({ name, path }) => (
        <FileLine key={path} label={name} path={path} tree={tree} />
      ))}
      {more > 0 && <li class="quiet tree-more">{text.moreFiles(more)}</li>}
    </ul>
  );
}

function Found({ paths, tree }: { readonly paths: readonly string[]; readonly tree: FileTreeProps }) {
  if (paths.length === 0) return <p class="quiet tree-more">{text.noFileFound}</p>;
  return (
    <ul>
      {paths.slice(0, MOST_SHOWN).map((path) => (
        <FileLine key={path} label={path} path={path} tree={tree} />
      ))}
      {paths.length > MOST_SHOWN && (
        <li class="quiet tree-more">{text.moreFiles(paths.length - MOST_SHOWN)}</li>
      )}
    </ul>
  );
}

function FileLine(props: { readonly label: string; readonly path: string; readonly tree: FileTreeProps }) {
  const { label, path, tree } = props;
  return (
    <li>
      <a
        class="tree-line d-flex flex-1 items-center gap-2 min-w-0"
        href={hrefOf(tree.hrefPath, { file: path })}
        aria-current={path === tree.current ? 'true' : undefined}
      >
        <bdi class="tree-name">{visibleText(label)}</bdi>
      </a>
    </li>
  );
}
