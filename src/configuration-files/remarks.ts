/** Remarks in configurations: a field `$comment`, with any value, in any object. They have no meaning. */

export const REMARK = '$comment';
