/** Completion of JSON in the editor: finds the place of the cursor, and offers what the schema allows there. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { SyntaxNode } from '@lezer/common';
import { fieldsAt, type JsonPath, type Offer, type SchemaSource, valuesAt } from './json-schema.js';

interface JsonPlace {
  readonly kind: 'field' | 'value';
  /** The path of the object that gets the field, or of the value. */
  readonly path: JsonPath;
  /** The offset at which the word that is being typed begins. */
  readonly from: number;
  readonly to: number;
  /** The fields that the object has already. */
  readonly present: ReadonlySet<string>;
}

const WORD_BEFORE = /"?[\w.-]*$/;
/**
 * Matches a word for which the offers stay valid. They stay while the word grows, because a new request would hide
 * them until its answer came.
 */
const WORD = /^"?[\w.-]*$/;

export function completeJson(source: SchemaSource): (context: CompletionContext) => CompletionResult | null {
  return ({ state, pos, explicit }) => {
    const place = placeAt(state, pos);
    if (place === null || (!explicit && place.from === pos)) return null;
    const offers =
      place.kind === 'field'
        ? fieldsAt(source, place.path, place.present)
        : valuesAt(source, place.path).filter(({ text }) => text !== '{}' && text !== '[]');
    const hasValue = place.kind === 'field' && /^\s*:/.test(state.sliceDoc(place.to, place.to + 20));
    return {
      from: place.from,
      to: place.to,
      filter: true,
      validFor: WORD,
      options: offers.map((one) => option(one, hasValue)),
    };
  };
}

/** Finds what the cursor is in; null: the schema has nothing to offer there, such as behind a whole value. */
function placeAt(state: EditorState, pos: number): JsonPlace | null {
  const node = syntaxTree(state).resolveInner(pos, -1);
  const line = state.doc.lineAt(pos);
  const word = WORD_BEFORE.exec(state.sliceDoc(line.from, pos))?.[0] ?? '';
  const token = node.name === 'PropertyName' || node.name === 'String' ? node : null;
  const range = token === null ? { from: pos - word.length, to: pos } : { from: token.from, to: token.to };
  if (token !== null && token.to === pos && state.sliceDoc(pos - 1, pos) === '"' && token.to - token.from > 1)
    return null;
  const holder = holderOf(node);
  if (holder === null) return null;
  const inObject = holder.name === 'Object' || node.name === 'PropertyName';
  const object = holder.name === 'Property' ? holder.parent : holder;
  const isField = inObject && !isBehindColon(state, range.from);
  return {
    kind: isField ? 'field' : 'value',
    path: isField ? pathOf(state, object) : valuePath(state, holder, range.from),
    ...range,
    present: isField && object !== null ? namesIn(state, object, range.from) : new Set(),
  };
}

/** The object, list or property around a node. */
function holderOf(node: SyntaxNode): SyntaxNode | null {
  for (let one: SyntaxNode | null = node; one !== null; one = one.parent)
    if (one.name === 'Object' || one.name === 'Array' || one.name === 'Property') return one;
  return null;
}

/** True behind `"field": `. The parser may still take such an unfinished property for a part of the object. */
function isBehindColon(state: EditorState, from: number): boolean {
  return /:\s*$/.test(state.sliceDoc(Math.max(0, from - 200), from));
}

function valuePath(state: EditorState, holder: SyntaxNode, from: number): JsonPath {
  if (holder.name === 'Array') return [...pathOf(state, holder), 0];
  if (holder.name === 'Property') return pathOf(state, holder);
  const before = /"((?:[^"\\]|\\.)*)"\s*:\s*$/.exec(state.sliceDoc(Math.max(0, from - 300), from));
  return [...pathOf(state, holder), ...(before?.[1] === undefined ? [] : [before[1]])];
}

/** The path of a property's value, or of an object or list. */
function pathOf(state: EditorState, node: SyntaxNode | null): JsonPath {
  const path: (string | number)[] = [];
  for (let one = node; one !== null; one = one.parent) {
    if (one.name === 'Property') path.unshift(nameOf(state, one));
    else if (one !== node && one.name === 'Array') path.unshift(0);
  }
  return path;
}

function nameOf(state: EditorState, property: SyntaxNode): string {
  const name = property.getChild('PropertyName');
  if (name === null) return '';
  try {
    return String(JSON.parse(state.sliceDoc(name.from, name.to)));
  } catch {
    return '';
  }
}

function namesIn(state: EditorState, object: SyntaxNode, except: number): ReadonlySet<string> {
  return new Set(
    object
      .getChildren('Property')
      .filter(({ from }) => from !== except)
      .map((property) => nameOf(state, property)),
  );
}

/** `isNameOnly`: insert only the field's name, because its value is there already. */
function option({ label, text, detail, about }: Offer, isNameOnly: boolean): Completion {
  return {
    label: JSON.stringify(label) === text.slice(0, label.length + 2) ? JSON.stringify(label) : label,
    displayLabel: label,
    apply: isNameOnly ? JSON.stringify(label) : text,
    detail,
    ...(about !== undefined && { info: about }),
  };
}
