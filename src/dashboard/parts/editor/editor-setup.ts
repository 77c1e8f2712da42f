/**
 * CodeMirror as all screens use it. Load this module by `import()` only, so that the first load of the page stays
 * small.
 */
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json, jsonLanguage } from '@codemirror/lang-json';
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { unifiedMergeView } from '@codemirror/merge';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import { completeJson } from './json-completion.js';
import type { SchemaSource } from './json-schema.js';

type Language = 'json' | 'text';

/** A fault of the text. Line and column count from 1; null: the fault has no place. */
export interface Fault {
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
  readonly isWarning: boolean;
}

export interface EditorOptions {
  readonly parent: HTMLElement;
  readonly text: string;
  readonly language: Language;
  /** The name of the editor for screen readers. */
  readonly label: string;
  readonly isReadOnly: boolean;
  readonly onChange?: (text: string) => void;
  readonly onSave?: () => void;
  /** Judges the text, called when the person pauses in typing. */
  readonly check?: (text: string) => Promise<readonly Fault[]>;
  /** The schema for completion in JSON. */
  readonly schema?: SchemaSource;
  /** A text to compare with: the editor marks the differences. */
  readonly original?: string;
}

/** The pause in typing after which the text is judged. */
const CHECK_DELAY_MS = 300;

/** Makes an editor, once `parent` is in the page. Call `destroy()` on the result to end it. */
export function makeEditor(options: EditorOptions): EditorView {
  return new EditorView({
    parent: options.parent,
    state: EditorState.create({ doc: options.text, extensions: extensionsOf(options) }),
  });
}

/** The offset of a line and column, counted as in `Fault`. */
export function offsetOf(state: EditorState, { line, column }: Pick<Fault, 'line' | 'column'>): number {
  const { from, to } = state.doc.line(Math.min(Math.max(line ?? 1, 1), state.doc.lines));
  return Math.min(to, from + Math.max(0, (column ?? 1) - 1));
}

function extensionsOf(options: EditorOptions): Extension[] {
  const { label, language, isReadOnly, original } = options;
  return [
    EditorView.cspNonce.of(pageNonce()),
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', autocapitalize: 'off' }),
    syntaxHighlighting(classHighlighter),
    lineNumbers(),
    highlightSpecialChars(),
    drawSelection(),
    bracketMatching(),
    EditorView.lineWrapping,
    // A direction mark in the text must not reverse the rest of its line.
    EditorView.perLineTextDirection.of(false),
    language === 'json' ? json() : [],
    isReadOnly ? [EditorState.readOnly.of(true), EditorView.editable.of(false), focusable] : writing(options),
    original === undefined
      ? []
      : unifiedMergeView({ original, mergeControls: false, gutter: true, collapseUnchanged: {} }),
  ];
}

/** A read-only text can still be reached and scrolled by keyboard. */
const focusable = EditorView.contentAttributes.of({ tabindex: '0' });

function writing({ onChange, onSave, check, schema }: EditorOptions): Extension[] {
  const save = {
    key: 'Mod-s',
    preventDefault: true,
    run: () => {
      onSave?.();
      return true;
    },
  };
  return [
    history(),
    indentUnit.of('  '),
    indentOnInput(),
    closeBrackets(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSelectionMatches(),
    autocompletion({ icons: false, aboveCursor: false }),
    schema === undefined ? [] : jsonLanguage.data.of({ autocomplete: completeJson(schema) }),
    check === undefined ? [] : [lintGutter(), linter(diagnose(check), { delay: CHECK_DELAY_MS })],
    // Tab leaves the editor, as everywhere in the page; after Ctrl-M it indents.
    keymap.of([
      save,
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...completionKeymap,
      ...lintKeymap,
    ]),
    ownTyping(),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onChange?.(update.state.doc.toString());
    }),
  ];
}

function diagnose(check: NonNullable<EditorOptions['check']>): (view: EditorView) => Promise<Diagnostic[]> {
  return async ({ state }) => {
    const faults = await check(state.doc.toString());
    return faults.map((fault) => {
      const from = offsetOf(state, fault);
      const word = /^(?:"(?:[^"\\]|\\.)*"|[\w.+-]+|.)/.exec(state.sliceDoc(from, state.doc.lineAt(from).to));
      return {
        from,
        to: from + (word?.[0].length ?? 0),
        severity: fault.isWarning ? 'warning' : 'error',
        message: fault.message,
      };
    });
  };
}

/** The nonce of the page, which CodeMirror's own style element needs: see docs/dashboard.md. */
function pageNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
}

/**
 * Turns typing into a change of the editor before the browser changes the page. Over a selection the browser would
 * write style attributes, which the Content-Security-Policy refuses and reports.
 */
function ownTyping(): Extension {
  return EditorView.domEventHandlers({
    beforeinput: (event, view) => {
      // Leave text that is being composed (accents, other scripts, some keyboards of phones) to the browser.
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
