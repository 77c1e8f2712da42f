/**
 * Edits of XML files: the text of an element or the value of an attribute is replaced in its place, a missing one is
 * added. The parser expands no entity that a file declares, and opens no other file.
 */
import { parseXml, XmlElement, XmlError, XmlText } from '@rgrove/parse-xml';
import { type Edit, withEdits } from '../../../configuration-files/text-edit.js';
import type { ValueEdit } from './file-edit.js';
import { FIXED_FORM, setTogether } from './value-edits.js';

/** A key: the way to an element, and an attribute of it. A dot in a name has a backslash. */
const KEY = /^(?<way>.+?)(?:\.@(?<attribute>[\p{L}_:](?:[\p{L}\p{M}\p{N}_:·-]|\\\.)*))?$/u;
/** An element on the way: `name`, `name[attribute=value]`, or one as in XPath; and its place among several, from 0. */
const STEP =
  /(?<name>[\p{L}_:](?:[\p{L}\p{M}\p{N}_:·-]|\\\.)*)(?:\[@?(?<by>[^=\]\s]+)=(["']?)(?<own>(?:\\.|[^\\\]])*)\3\])?(?:\.(?<place>\d+)(?=\.|$))?(?:\.(?=.)|$)/gu;
type Step = { readonly [part in 'name' | 'by' | 'own' | 'place']?: string | undefined };

const START_TAG = /<(?:"[^"]*"|'[^']*'|[^"'>])*>/y;
const ATTRIBUTE = /\s([^\s=]+)\s*=\s*("[^"]*"|'[^']*')/g;

export function editXml(text: string, edits: readonly ValueEdit[]): string {
  const [first] = text.trim() === '' ? edits : [];
  const name = first && plain(targetOf(first.key).steps[0]?.name);
  return setTogether(first ? `<?xml version="1.0"?>\n<${name}>\n</${name}>\n` : text, edits, setInXml);
}

function setInXml(text: string, edits: readonly ValueEdit[]): string {
  const splices = splicesOf(text, edits);
  const edited = withEdits(text, splices);
  if (splices.length === 0 || splicesOf(edited, edits).length === 0) return edited;
  throw new Error(`${edits[0]?.key}: ${FIXED_FORM}`);
}

/** The edits of the text that give the file the values. */
function splicesOf(text: string, edits: readonly ValueEdit[]): Edit[] {
  try {
    const { root } = parseXml(text, { includeOffsets: true, preserveComments: true });
    return root === null ? [] : edits.flatMap((edit) => splice(text, root, edit) ?? []);
  } catch (error) {
    throw error instanceof XmlError ? new Error(`it is not XML: ${error.message.split('\n')[0]}`) : error;
  }
}

function targetOf(key: string): { readonly steps: readonly Step[]; readonly attribute: string | undefined } {
  const { way = '', attribute } = KEY.exec(key)?.groups ?? {};
  const steps = [...way.matchAll(STEP)];
  if (way !== '' && steps.map(([text]) => text).join('') === way)
    return { steps: steps.map(({ groups = {} }) => groups), attribute: attribute && plain(attribute) };
  throw new Error(`${key}: it is not a path such as ServerSettings.property[name=ServerPort].@value`);
}

function plain(text = ''): string {
  return text.replace(/\\(.)/g, '$1');
}

/** The edit that gives a file this value; undefined: the file has it. */
function splice(text: string, root: XmlElement, { key, value: given }: ValueEdit): Edit | undefined {
  const value = String(given);
  const fault = (what: string): Error => new Error(`${key}: ${what}`);
  if (/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u.test(value))
    throw fault('the value has a character that XML cannot hold');
  const { steps, attribute } = targetOf(key);
  let children: XmlElement['children'] = [root];
  let element = root;
  for (const [index, step] of steps.entries()) {
    const { name = '', place } = step;
    const fitting = children.filter((one) => one instanceof XmlElement).filter((one) => isFitting(one, step));
    if (fitting.length > 1 && place === undefined)
      throw fault(`there are ${fitting.length}; name one of them as ${name}[attribute=value] or ${name}.0`);
    const found = fitting[Number(place ?? 0)];
    if (found === undefined && (index === 0 || place !== undefined))
      throw fault(`there is no such ${name}, and it is not added; the outermost element is ${root.name}`);
    if (found === undefined && children.some((one) => one instanceof XmlText && one.text.trim() !== ''))
      throw fault(`a single value stands above "${name}"`);
    if (found === undefined)
      return withContent(text, element, textOf(steps.slice(index), attribute, value), true);
    element = found;
    ({ children } = found);
  }
  if (attribute !== undefined) return setAttribute(text, element, attribute, value);
  if (children.some((one) => one instanceof XmlElement))
    throw fault('the file has several values there, so name one of them');
  if (element.text === value) return undefined;
  if (!children.every((one) => one instanceof XmlText)) throw fault(FIXED_FORM);
  return withContent(text, element, escaped(value));
}

function isFitting({ name, attributes }: XmlElement, step: Step): boolean {
  const { by } = step;
  return name === plain(step.name) && (by === undefined || attributes[by] === plain(step.own));
}

function setAttribute(text: string, element: XmlElement, name: string, value: string): Edit | undefined {
  if (element.attributes[name] === value) return undefined;
  const tag = startTagOf(text, element);
  const own = [...tag.matchAll(ATTRIBUTE)].find((one) => one[1] === name);
  const end = element.start + (own ? own.index + own[0].length : insideOf(tag));
  const quoted = own?.[2] ?? '';
  const [quote = '"'] = quoted;
  return {
    start: end - quoted.length,
    end,
    text: `${own ? '' : ` ${name}=`}${quote}${escaped(value)}${quote}`,
  };
}

function startTagOf(text: string, { start }: XmlElement): string {
  START_TAG.lastIndex = start;
  return START_TAG.exec(text)?.[0] ?? '';
}

/** The length of a start tag up to its last attribute. */
function insideOf(tag: string): number {
  return tag.slice(0, tag.endsWith('/>') ? -2 : -1).trimEnd().length;
}

/** A new element with what is below it. */
function textOf([step, ...rest]: readonly Step[], attribute: string | undefined, value: string): string {
  if (step === undefined) return attribute === undefined ? escaped(value) : '';
  const [name, content] = [plain(step.name), textOf(rest, attribute, value)];
  const mark = step.by === undefined ? '' : ` ${step.by}="${escaped(plain(step.own))}"`;
  const own = rest.length > 0 || attribute === undefined ? '' : ` ${attribute}="${escaped(value)}"`;
  return `<${name}${mark}${own}${content === '' ? '/>' : `>${content}</${name}>`}`;
}

/** Puts a text in the place of the content of an element. `isAdded`: puts it behind the content, as what is there. */
function withContent(text: string, element: XmlElement, content: string, isAdded = false): Edit {
  const tag = startTagOf(text, element);
  const opened = element.start + tag.length;
  if (tag.endsWith('/>'))
    return { start: element.start + insideOf(tag), end: opened, text: `>${content}</${element.name}>` };
  const end = text.lastIndexOf('</', element.end - 1);
  if (!isAdded) return { start: opened, end, text: content };
  const blankBefore = (at: number): string =>
    text.slice(opened + text.slice(opened, at).trimEnd().length, at);
  const [last, blank] = [element.children.findLast((one) => one instanceof XmlElement), blankBefore(end)];
  const lead = last === undefined ? blank && `${blank}  ` : blankBefore(last.start);
  return { start: end - blank.length, end: end - blank.length, text: lead + content };
}

/** Characters beyond ASCII become `&#228;`, which every reader knows, whatever the encoding of the file. */
function escaped(text: string): string {
  return text.replace(/[&<>"']|[^\x20-\x7e]/gu, (one) => `&#${one.codePointAt(0)};`);
}
