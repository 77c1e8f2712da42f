/**
 * A text editor, and `Difference`, which shows how two texts differ. The code of both is loaded when one is first
 * shown.
 */

import type { EditorView } from '@codemirror/view';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Failure } from '../notes.js';
import { text as parts } from '../text.js';
import type { EditorOptions } from './editor-setup.js';
import './editor.css';

export interface CodeEditorProps extends Omit<EditorOptions, 'parent' | 'original'> {
  /** The line that gets the cursor and the focus. A new object moves the cursor again, even to the same line. */
  readonly goTo?: { readonly line: number | null; readonly column: number | null } | null;
  readonly generation: number;
}

/** An editor. It owns its text once it is shown: to show another `text`, give it another `generation`. */
export function CodeEditor({ goTo = null, generation, ...options }: CodeEditorProps) {
  const { element, view, state } = useEditor(options);
  useEffect(() => {
    const { current: editor } = view;
    const changes = { from: 0, to: editor?.state.doc.length ?? 0, insert: options.text };
    if (editor?.state.doc.toString() !== options.text) editor?.dispatch({ changes });
  }, [generation, view]);
  useEffect(() => {
    const editor = view.current;
    if (goTo === null || editor === null) return;
    void import('./editor-setup.js').then(({ offsetOf }) => {
      editor.dispatch({ selection: { anchor: offsetOf(editor.state, goTo) }, scrollIntoView: true });
      editor.focus();
    });
  }, [goTo, view, state]);
  return <EditorPlace element={element} state={state} />;
}

type DifferenceProps = Pick<EditorOptions, 'label' | 'language'> & {
  readonly before: string;
  readonly after: string;
};

/** Shows a text with its new parts marked, and its former parts where they stood. */
export function Difference({ before, after, ...options }: DifferenceProps) {
  return <EditorPlace {...useEditor({ ...options, text: after, original: before, isReadOnly: true })} />;
}

function EditorPlace({ element, state }: Omit<ReturnType<typeof useEditor>, 'view'>) {
  return (
    <div class="editor d-flex min-w-0" ref={element}>
      {state === 'loading' && <p class="quiet editor-note">{parts.loading}</p>}
      {state === 'failed' && <Failure error={parts.editorFailed} onRetry={() => location.reload()} />}
    </div>
  );
}

/** Makes the editor once. Later renders may change only the callbacks of `options`. */
function useEditor(options: Omit<EditorOptions, 'parent'>) {
  const element = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef(options);
  latest.current = options;
  const state = useSignal<'loading' | 'shown' | 'failed'>('loading');
  useEffect(() => {
    let isGone = false;
    import('./editor-setup.js').then(
      ({ makeEditor }) => {
        if (isGone || element.current === null) return;
        const { check, ...first } = latest.current;
        view.current = makeEditor({
          ...first,
          parent: element.current,
          onChange: (text) => latest.current.onChange?.(text),
          onSave: () => latest.current.onSave?.(),
          ...(check !== undefined && { check: async (text) => (await latest.current.check?.(text)) ?? [] }),
        });
        state.value = 'shown';
      },
      () => {
        state.value = 'failed';
      },
    );
    return () => {
      isGone = true;
      view.current?.destroy();
      view.current = null;
    };
  }, [state]);
  return { element, view, state: state.value };
}
