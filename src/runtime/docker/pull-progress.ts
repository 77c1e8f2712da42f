/** Adds up an engine's reports on the layers of a pull, and says the sum in a few words. */

const MB = 1_000_000;
/** The most layers that are added up: an image has a hundred or two at most. */
const MOST_LAYERS = 1000;

export interface LayerNews {
  readonly id: string;
  readonly status: string;
  readonly progressDetail?:
    | { readonly current?: number | undefined; readonly total?: number | undefined }
    | null
    | undefined;
}

interface Layer {
  loaded: number;
  total: number;
}

export class PullProgress {
  readonly #image: string;
  readonly #layers = new Map<string, Layer>();

  constructor(image: string) {
    this.#image = image;
  }

  note({ id, status, progressDetail }: LayerNews): void {
    if (id === '') return;
    const layer = this.#layers.get(id);
    const total = progressDetail?.total ?? 0;
    if (status === 'Downloading' && total > 0) {
      if (layer !== undefined || this.#layers.size < MOST_LAYERS)
        this.#layers.set(id, { loaded: progressDetail?.current ?? 0, total });
    } else if (layer !== undefined) {
      // Verified, unpacked or complete: all of the layer was loaded.
      layer.loaded = layer.total;
    }
  }

  /** `pulling image alpine:3: 42 %, 12 of 30 MB`; without the numbers while no size is known. */
  text(): string {
    let loaded = 0;
    let total = 0;
    for (const layer of this.#layers.values()) {
      loaded += Math.min(layer.loaded, layer.total);
      total += layer.total;
    }
    const what = `pulling image ${this.#image}`;
    if (total === 0) return what;
    return `${what}: ${Math.floor((100 * loaded) / total)} %, ${inMB(loaded)} of ${inMB(total)} MB`;
  }
}

function inMB(bytes: number): string {
  const size = bytes / MB;
  return size < 10 ? size.toFixed(1) : String(Math.round(size));
}
