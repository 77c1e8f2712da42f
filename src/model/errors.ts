/**
 * Every error that Drover shows to a client or an operator, with its HTTP status, in one table.
 * Parts throw `DroverError` with a code from here; the API turns it into `{error, code}` and the status.
 */

const STATUS_BY_CODE = {
  DRV_REQUEST_INVALID: 400,
  DRV_REQUEST_TOO_LARGE: 413,
  DRV_REQUEST_TIMEOUT: 408,
  DRV_REQUEST_GIVEN_UP: 503,
  DRV_CONTENT_TYPE_UNKNOWN: 415,
  DRV_HEADERS_TOO_LARGE: 431,
  DRV_ENDPOINT_UNKNOWN: 404,
  DRV_METHOD_UNKNOWN: 405,
  DRV_UPGRADE_REQUIRED: 426,
  DRV_TLS_REQUIRED: 400,
  DRV_KEY_REFUSED: 401,
  DRV_KEY_LIMITED: 403,
  DRV_RATE_LIMITED: 429,
  DRV_NOT_LEADER: 503,
  DRV_LEADER_LOST: 502,
  DRV_NOT_READY: 503,
  DRV_OVERLOADED: 503,
  DRV_NOT_IMPLEMENTED: 501,
  DRV_INTERNAL: 500,
  DRV_INSTANCE_UNKNOWN: 404,
  DRV_INSTANCE_NOT_RUNNING: 409,
  DRV_UPDATE_REFUSED: 409,
  DRV_DIRECTORY_UNKNOWN: 404,
  DRV_ADOPTION_REFUSED: 409,
  DRV_RUN_UNKNOWN: 404,
  DRV_INSTANCE_NOT_ATTACHABLE: 409,
  DRV_STDIN_TOO_LONG: 400,
  DRV_STDIN_FULL: 409,
  DRV_CONFIGURATION_UNKNOWN: 404,
  DRV_CONFIGURATION_INVALID: 400,
  DRV_CONFIGURATION_CHANGED: 412,
  DRV_CONFIGURATION_NOT_WRITABLE: 500,
  DRV_CONFIGURATION_REFUSED: 403,
  DRV_CONFIGURATION_OWNED: 409,
  DRV_CONFIGURATION_FROZEN: 409,
  DRV_OVERRIDE_UNKNOWN: 404,
  DRV_PLAN_CHANGED: 409,
  DRV_REVISION_UNKNOWN: 404,
  DRV_ROLLOUT_UNKNOWN: 404,
  DRV_ROLLOUT_STATE: 409,
  DRV_SCHEDULE_UNKNOWN: 404,
  DRV_RECORD_UNREADABLE: 409,
  DRV_TEMPLATE_UNKNOWN: 404,
  DRV_TEMPLATE_PENDING: 503,
  DRV_TEMPLATE_UNSAFE: 400,
  DRV_TEMPLATE_CORRUPT: 500,
  DRV_TEMPLATE_OWNED: 409,
  DRV_TEMPLATE_FILE_UNKNOWN: 404,
  DRV_TEMPLATE_FILE_EXISTS: 409,
  DRV_TEMPLATE_FILE_CHANGED: 412,
  DRV_PATH_UNSAFE: 400,
  DRV_ARCHIVE_INVALID: 400,
  DRV_ARCHIVE_TOO_LARGE: 413,
  DRV_STORAGE_UNKNOWN: 400,
  DRV_STORAGE_FAILED: 502,
  DRV_WEBHOOK_UNKNOWN: 404,
  DRV_WEBHOOK_FAILED: 502,
  DRV_EXTENSION_FAILED: 500,
  DRV_COMMAND_INVALID: 400,
  DRV_COMMAND_UNKNOWN: 404,
  DRV_KEY_UNKNOWN: 404,
  DRV_KEY_EXISTS: 409,
  DRV_SESSION_UNKNOWN: 404,
  DRV_SIGN_IN_CODE_UNKNOWN: 401,
  DRV_DASHBOARD_OFF: 404,
  DRV_SOCKET_LIMIT: 429,
  DRV_LOG_SEARCH_LIMIT: 429,
  DRV_WORKSPACE_UNSAFE: 409,
  DRV_FILE_EDIT_FAILED: 409,
  DRV_SECRET_UNKNOWN: 404,
  DRV_SECRET_IN_USE: 409,
  DRV_SECRET_MISSING: 409,
  DRV_DISK_WRITE_FAILED: 507,
  DRV_NODE_UNKNOWN: 404,
  DRV_NODE_DISCONNECTED: 503,
  DRV_NODE_IN_USE: 409,
  DRV_NODE_CONFIG_INVALID: 400,
  DRV_NODE_ROOT_UNUSABLE: 500,
  DRV_NODE_ROOT_LOCKED: 409,
  DRV_NODE_PORT_IN_USE: 409,
  DRV_JOIN_REFUSED: 403,
  DRV_NODE_CERTIFICATE_ENDED: 503,
  DRV_JOIN_TOKEN_UNKNOWN: 404,
  DRV_STORE_CONFLICT: 409,
  DRV_STORE_HISTORY_GONE: 500,
  DRV_STORE_CORRUPT: 500,
  DRV_STORE_WRITE_FAILED: 507,
  DRV_STORE_CLOSED: 503,
  DRV_STORE_FENCED: 503,
  DRV_STORE_UNAVAILABLE: 503,
  DRV_RUNTIME_START_FAILED: 500,
  DRV_RUNTIME_UNAVAILABLE: 503,
  DRV_CHANNEL_CLOSED: 503,
  DRV_CHANNEL_CALL_FAILED: 502,
  DRV_SERVICE_UNKNOWN: 502,
} as const;

/** A stable code, `DRV_<AREA>_<WHAT>`. A code never changes its meaning; a new meaning gets a new code. */
export type ErrorCode = keyof typeof STATUS_BY_CODE;

/**
 * The only error class that may leave a part. `message` is for a person: it names the field or thing, what is wrong and
 * what would be right. It holds no secret, and no server path that a client may not see.
 */
export class DroverError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'DroverError';
    this.code = code;
  }

  /** The HTTP status that the API answers with. */
  get status(): number {
    return STATUS_BY_CODE[this.code];
  }

  /** True when `error` is a DroverError with this code. */
  static is(error: unknown, code: ErrorCode): error is DroverError {
    return error instanceof DroverError && error.code === code;
  }
}

const errorOf =
  (code: ErrorCode) =>
  (message: string, options?: { cause?: unknown }): DroverError =>
    new DroverError(code, message, options);

/** The errors that many parts throw. The message is as that of DroverError. */
export const invalidRequest = errorOf('DRV_REQUEST_INVALID');
export const invalidNodeConfiguration = errorOf('DRV_NODE_CONFIG_INVALID');
export const unusableRoot = errorOf('DRV_NODE_ROOT_UNUSABLE');
export const corruptStore = errorOf('DRV_STORE_CORRUPT');
export const channelClosed = errorOf('DRV_CHANNEL_CLOSED');
export const storeClosed = errorOf('DRV_STORE_CLOSED');
export const templateUnknown = errorOf('DRV_TEMPLATE_UNKNOWN');
export const revisionUnknown = errorOf('DRV_REVISION_UNKNOWN');
export const templateUnsafe = errorOf('DRV_TEMPLATE_UNSAFE');
export const nodeDisconnected = errorOf('DRV_NODE_DISCONNECTED');
export const internalError = errorOf('DRV_INTERNAL');
export const stdinFull = errorOf('DRV_STDIN_FULL');
export const templateCorrupt = errorOf('DRV_TEMPLATE_CORRUPT');
export const storeUnavailable = errorOf('DRV_STORE_UNAVAILABLE');
export const storeWriteFailed = errorOf('DRV_STORE_WRITE_FAILED');
export const requestTooLarge = errorOf('DRV_REQUEST_TOO_LARGE');

/** The HTTP status of answers with this code. */
export function statusOfCode(code: ErrorCode): number {
  return STATUS_BY_CODE[code];
}

/** True when `text` is a known code. Used for codes that came over the channel. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(STATUS_BY_CODE, text);
}

/** The error that another process sent. `otherwise`: its code when this version does not know the code that was sent. */
export function sentError(
  sent: { readonly code: string; readonly message: string },
  otherwise: ErrorCode,
): DroverError {
  return new DroverError(isErrorCode(sent.code) ? sent.code : otherwise, sent.message);
}

/** The message of any thrown value, for a log line or a status message; never throws itself. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    // The value is of foreign code, such as an extension's, and its own text throws.
    return 'an error whose text cannot be read';
  }
}
