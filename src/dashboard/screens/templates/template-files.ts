/** The files of one template over the API. */
import type { TemplateFileList } from '../../../api/routes/template-file-routes.js';
import { type Api, apiPath, type CallOptions, ifThere } from '../../api/api-client.js';

/** The largest text that is edited in a browser. */
const MOST_TEXT_BYTES = 1024 * 1024;

export type FileContent = { readonly size: number; readonly revision: string } & (
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'binary' | 'large' }
);

interface UploadOptions {
  readonly signal: AbortSignal;
  /** Called with a share from 0 to 1. */
  readonly onProgress: (share: number) => void;
}

/** All methods throw ApiFailure. Revisions are ETags with their quotes. */
export class TemplateFiles {
  readonly #api: Api;
  readonly #path: string;

  constructor(api: Api, { group, name }: { readonly group: string; readonly name: string }) {
    this.#api = api;
    this.#path = apiPath('templates', group, name);
  }

  async list(signal: AbortSignal): Promise<readonly string[]> {
    return (await this.#api.get<TemplateFileList>(`${this.#path}/files`, { signal })).files;
  }

  /**
   * Reads a file; null: there is no such file. For a file that is too large or holds no text, the result has only
   * the size.
   */
  async read(path: string): Promise<FileContent | null> {
    const response = await ifThere(this.#api.send('GET', this.#pathOf(path)));
    if (response === null) return null;
    const size = Number(response.headers.get('content-length') ?? 0);
    const revision = revisionOf(response);
    if (size > MOST_TEXT_BYTES) {
      await response.body?.cancel();
      return { kind: 'large', size, revision };
    }
    const text = textOf(await response.arrayBuffer());
    return text === null ? { kind: 'binary', size, revision } : { kind: 'text', text, size, revision };
  }

  /** Returns the revision of a file; null: there is no such file. */
  async revision(path: string): Promise<string | null> {
    const response = await ifThere(this.#api.send('HEAD', this.#pathOf(path)));
    return response && revisionOf(response);
  }

  /** Makes a new file and its folders, and returns the file's revision. Refused when the file exists. */
  async create(path: string, body: Blob, options?: UploadOptions): Promise<string> {
    return revisionOf(await this.#api.send('POST', this.#pathOf(path), { body, ...sending(options) }));
  }

  /**
   * Replaces a file and returns its new revision. `revision`: the file is replaced only if it still has this
   * revision; undefined: always.
   */
  async replace(path: string, body: Blob, revision?: string, options?: UploadOptions): Promise<string> {
    const headers = revision === undefined ? {} : { 'if-match': revision };
    const response = await this.#api.send('PATCH', this.#pathOf(path), {
      body,
      headers,
      ...sending(options),
    });
    return revisionOf(response);
  }

  async remove(path: string): Promise<void> {
    await this.#api.delete(this.#pathOf(path));
  }

  /** Unpacks a zip at the top of the template. */
  async unpack(zip: Blob, options: UploadOptions): Promise<void> {
    await this.#api.post(`${this.#path}/import`, { body: zip, ...sending(options) });
  }

  /** Returns all files as a zip. */
  async export(): Promise<Blob> {
    return await (await this.#api.send('POST', `${this.#path}/export`)).blob();
  }

  async download(path: string): Promise<Blob> {
    return await (await this.#api.send('GET', this.#pathOf(path))).blob();
  }

  #pathOf(path: string): string {
    return `${this.#path}/files${apiPath(...path.split('/'))}`;
  }
}

function sending(options: UploadOptions | undefined) {
  return options === undefined ? {} : { signal: options.signal, call: uploadCall(options.onProgress) };
}

function revisionOf(response: Response): string {
  return response.headers.get('etag') ?? '';
}

/** Decodes the bytes of a file; null: the bytes are no text. */
function textOf(bytes: ArrayBuffer): string | null {
  if (new Uint8Array(bytes).includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Makes a function for `CallOptions.call` that reports how much of the body was sent. It uses XMLHttpRequest,
 * because `fetch` cannot report that. `onProgress` gets a share from 0 to 1.
 */
function uploadCall(onProgress: (share: number) => void): NonNullable<CallOptions['call']> {
  return (url, { method = 'POST', headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open(method, url);
      for (const [name, value] of new Headers(headers)) request.setRequestHeader(name, value);
      request.responseType = 'blob';
      request.upload.onprogress = ({ lengthComputable, loaded, total }) => {
        if (lengthComputable && total > 0) onProgress(loaded / total);
      };
      request.onload = () => resolve(responseOf(request));
      request.onerror = () => reject(new TypeError('the upload got no answer'));
      request.onabort = () => reject(signal?.reason);
      signal?.addEventListener('abort', () => request.abort(), { once: true });
      request.send(body instanceof ReadableStream ? null : body);
    });
}

function responseOf(request: XMLHttpRequest): Response {
  const { status, statusText, response } = request;
  const headers = new Headers();
  for (const line of request.getAllResponseHeaders().trim().split(/\r?\n/)) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const isWithoutBody = status === 204 || status === 304;
  return new Response(isWithoutBody ? null : response, { status, statusText, headers });
}
