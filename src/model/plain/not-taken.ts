/**
 * The header of a 503 by which a master of several says that it does not lead, and has not begun with the request. So the
 * same may be asked again, of any master, also what changes something.
 */
export const NOT_TAKEN = 'drover-not-taken';
