/**
 * Turns typing into a change of the editor before the browser changes the page. Over a selection the browser would
 * write style attributes, which the Content-Security-Policy refuses and reports.
 */
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';

export function ownTyping(): Extension {
  return EditorView.domEventHandlers({
    beforeinput: (event, view) => {
      // Text that is being composed (accents, other scripts, some keyboards of phones) is left to the browser.
      if (event.isComposing || view.composing || view.state.readOnly) return false;
      const isTyped = event.inputType === 'insertText' && event.data !== null;
      const isDeleted =
        event.inputType.startsWith('delete') && view.state.selection.ranges.some(({ empty }) => !empty);
      if (!isTyped && !isDeleted) return false;
      event.preventDefault();
      if (isDeleted) view.dispatch(view.state.replaceSelection(''), { userEvent: 'delete.selection' });
      else type(view, event.data ?? '');
      return true;
    },
  });
}

/** Types a text as CodeMirror does: extensions such as closing brackets come first. */
function type(view: EditorView, text: string): void {
  const { from, to } = view.state.selection.main;
  const insert = () => view.state.update(view.state.replaceSelection(text), { userEvent: 'input.type' });
  const takers = view.state.facet(EditorView.inputHandler);
  if (!takers.some((take) => take(view, from, to, text, insert))) view.dispatch(insert());
}
