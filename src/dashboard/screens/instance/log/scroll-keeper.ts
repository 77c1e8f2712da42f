/**
 * Keeps the lines that the operator reads in their place while lines come and go, or keeps the end in sight. It
 * distinguishes scrolling by the operator from its own.
 */

/** The distance to the end, in px, up to which the operator counts as being at the end. */
const END_PX = 24;

type Move = 'away' | 'to-end' | 'within';

export class ScrollKeeper {
  readonly #scroller: HTMLElement;
  #top = 0;
  #anchor: { readonly row: Element; readonly offset: number } | null = null;

  constructor(scroller: HTMLElement) {
    this.#scroller = scroller;
  }

  /** Call when the scroller has moved. Returns what the operator did. */
  read(): Move {
    const { scrollTop } = this.#scroller;
    const by = scrollTop - this.#top;
    this.remember();
    if (by < -1) return 'away';
    return by > 0 && this.#toEnd() <= END_PX ? 'to-end' : 'within';
  }

  /** Call when the content or the scroller has another size. */
  restore(isFollowing: boolean): void {
    const scroller = this.#scroller;
    if (isFollowing) scroller.scrollTop = scroller.scrollHeight;
    else if (this.#anchor?.row.isConnected === true) {
      const moved = this.#offsetOf(this.#anchor.row) - this.#anchor.offset;
      if (Math.abs(moved) >= 1) scroller.scrollTop += moved;
    }
    this.remember();
  }

  /** Brings a row into the middle, unless it is in sight. */
  show(row: Element): void {
    const { top, bottom } = row.getBoundingClientRect();
    const frame = this.#scroller.getBoundingClientRect();
    if (top < frame.top || bottom > frame.bottom) row.scrollIntoView({ block: 'center' });
    this.remember();
  }

  remember(): void {
    this.#top = this.#scroller.scrollTop;
    const row = this.#firstInSight();
    this.#anchor = row === undefined ? null : { row, offset: this.#offsetOf(row) };
  }

  /** The distance in px from the visible part to the first and to the last row. */
  get room(): { readonly above: number; readonly below: number } {
    return { above: this.#scroller.scrollTop, below: this.#toEnd() };
  }

  #toEnd(): number {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    return scrollHeight - scrollTop - clientHeight;
  }

  #offsetOf(row: Element): number {
    return row.getBoundingClientRect().top - this.#scroller.getBoundingClientRect().top;
  }

  #firstInSight(): Element | undefined {
    const { top } = this.#scroller.getBoundingClientRect();
    const isBelow = (element: Element): boolean => element.getBoundingClientRect().bottom > top;
    const page = [...this.#scroller.querySelectorAll('.log-page')].find(isBelow);
    return page === undefined ? undefined : [...page.children].find(isBelow);
  }
}
