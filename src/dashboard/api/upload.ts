/** Sends a body and tells how much of it was sent. XMLHttpRequest can tell that, `fetch` cannot. */
import type { CallOptions } from './api-client.js';

/** Makes a function for `CallOptions.call`. `onProgress` gets a share from 0 to 1. */
export function uploadCall(onProgress: (share: number) => void): NonNullable<CallOptions['call']> {
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
