/**
 * Lets xterm.js draw under the Content-Security-Policy of the page: it makes style elements without a nonce, and writes
 * style attributes (xtermjs/xterm.js#4445). Its own option for another document covers only half of these.
 */

/**
 * Call while a terminal is open. Style elements that scripts make get the nonce of the page, and styles of spans go
 * over the CSSOM. Returns the function that ends this.
 */
export function drawUnderPolicy(): () => void {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
  const createElement = (tag: string, options?: ElementCreationOptions): HTMLElement => {
    const element = Document.prototype.createElement.call(document, tag, options);
    if (tag === 'style') element.nonce = nonce;
    if (tag === 'span') element.setAttribute = setAttribute;
    return element;
  };
  Object.defineProperty(document, 'createElement', { value: createElement, configurable: true });
  return () => void Reflect.deleteProperty(document, 'createElement');
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === 'style') this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}
