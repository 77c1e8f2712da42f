/** Matches a text of one line with its line end; `$1` is the line. A secret leaves that line end out. */
export const LINE_WITH_END = /^([^\n]*?)\r?\n$/;
