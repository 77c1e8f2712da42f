/**
 * A header of a 503 answer: this master does not lead, and has not begun with the request. The client may send the same
 * request again to any master, even one that changes something.
 */
export const NOT_TAKEN = 'drover-not-taken';
