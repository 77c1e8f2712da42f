/** Provides an image before its container is made: looks for it, pulls it with progress, or says why it is missing. */
import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Clock, TimerHandle } from '../../loop/clock.js';
import { DroverError, messageOf } from '../../model/errors.js';
import { startFailed } from '../failures.js';
import type { DockerSettings } from './engine/docker-settings.js';
import type { Engine } from './engine/engine.js';
import { EngineRefusal, isUnknown } from './engine/engine-error.js';
import { jsonLines } from './engine/json-lines.js';

/** The interval of progress messages: each message is an event for everyone who watches the instance. */
const TELL_EVERY_MS = 2000;
/** A pull fails after this long without any news: a registry that hangs would hold the start for ever. */
const SILENCE_LIMIT_MS = 120_000;

const newsSchema = z.object({
  status: z.string().default(''),
  id: z.string().default(''),
  progressDetail: z.object({ current: z.number().optional(), total: z.number().optional() }).nullish(),
  error: z.string().optional(),
});

interface ImageRequest {
  readonly engine: Pick<Engine, 'requireImage' | 'pull'>;
  readonly settings: Pick<DockerSettings, 'image' | 'dockerPull'>;
  readonly onProgress: (what: string) => void;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** Resolves when the image is there. Throws DRV_RUNTIME_START_FAILED for the operator, or the signal's reason. */
export async function provideImage(request: ImageRequest): Promise<void> {
  const { image, dockerPull } = request.settings;
  if (dockerPull === 'always' || !(await isThere(request))) {
    if (dockerPull === 'never')
      throw startFailed(
        `image ${image} is not on this node and dockerPull is never: pull it there by hand, or set dockerPull to missing`,
      );
    await pull(request);
  }
}

async function isThere({ engine, settings }: ImageRequest): Promise<boolean> {
  try {
    await engine.requireImage(settings.image);
    return true;
  } catch (error) {
    if (isUnknown(error)) return false;
    throw error;
  }
}

async function pull({ engine, settings, onProgress, signal, clock }: ImageRequest): Promise<void> {
  const { image } = settings;
  const progress = new PullProgress(image);
  const silence = new AbortController();
  const { tell, stop } = teller(clock, onProgress);
  tell(progress.text());
  try {
    const stream = await engine.pull(image, AbortSignal.any([signal, silence.signal]));
    await eachNews(stream, { silence, clock }, (news) => {
      progress.note(news);
      tell(progress.text());
    });
  } catch (error) {
    signal.throwIfAborted();
    if (!silence.signal.aborted) throw pullError(image, error);
    throw startFailed(
      `image ${image} cannot be pulled: nothing was heard of it for ${SILENCE_LIMIT_MS / 1000} s; look at the registry and the engine's network`,
    );
  } finally {
    stop();
  }
}

/** Reports the latest text, at most once per interval. */
function teller(clock: Clock, listener: (text: string) => void) {
  let latest = '';
  let told: string | undefined;
  let timer: TimerHandle | undefined;
  const tellNow = (): void => {
    timer = undefined;
    if (latest === told) return;
    told = latest;
    timer = clock.setTimer(TELL_EVERY_MS, tellNow);
    listener(latest);
  };
  return {
    tell: (text: string): void => {
      latest = text;
      if (timer === undefined) tellNow();
    },
    stop: (): void => timer?.cancel(),
  };
}

type News = z.output<typeof newsSchema>;

async function eachNews(
  stream: Readable,
  { silence, clock }: { readonly silence: AbortController; readonly clock: Clock },
  take: (news: News) => void,
): Promise<void> {
  const restart = () => clock.setTimer(SILENCE_LIMIT_MS, () => silence.abort());
  let timer = restart();
  try {
    for await (const line of jsonLines(stream)) {
      timer.cancel();
      timer = restart();
      const news = newsSchema.parse(line);
      if (news.error !== undefined) throw new EngineRefusal(500, news.error);
      take(news);
    }
  } finally {
    timer.cancel();
  }
}

/**
 * The error of a failed pull: the engine's message about the registry, and what to do. The error of an unreachable
 * engine passes unchanged.
 */
function pullError(image: string, error: unknown): Error {
  if (DroverError.is(error, 'DRV_RUNTIME_UNAVAILABLE')) return error;
  return startFailed(
    `image ${image} cannot be pulled: ${messageOf(error)}; check its name, or pull it by hand where the registry needs a login`,
    error,
  );
}

const MB = 1_000_000;
/** The most layers whose progress is added up. Images have hardly more than 200 layers. */
const MOST_LAYERS = 1000;

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

  note({ id, status, progressDetail }: News): void {
    if (id === '') return;
    const layer = this.#layers.get(id);
    const total = progressDetail?.total ?? 0;
    if (status === 'Downloading' && total > 0) {
      if (layer !== undefined || this.#layers.size < MOST_LAYERS)
        this.#layers.set(id, { loaded: progressDetail?.current ?? 0, total });
    } else if (layer !== undefined) {
      // Any later status, such as verified or complete, means that the whole layer was loaded.
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
