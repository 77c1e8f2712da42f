/** Follows the address of the page, and changes it. */
import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { hrefOf, type Place, type QueryChanges, readPlace } from './place.js';

export class Router {
  readonly #window: Window;
  readonly #place: Signal<Place>;
  readonly place: ReadonlySignal<Place>;

  constructor(window: Window) {
    this.#window = window;
    this.place = this.#place = signal(readPlace(window.location.hash));
    window.addEventListener('hashchange', () => this.#follow());
  }

  /** Goes to a place; Back returns. */
  go(path: readonly string[], query: QueryChanges = {}): void {
    this.#window.location.hash = hrefOf(path, query);
  }

  /** Changes settings of the present screen. Back skips these changes, because a filter changes with every letter. */
  set(changes: QueryChanges): void {
    const { path, query } = this.#place.value;
    this.#window.history.replaceState(null, '', hrefOf(path, { ...query, ...changes }));
    this.#follow();
  }

  #follow(): void {
    this.#place.value = readPlace(this.#window.location.hash);
  }
}
