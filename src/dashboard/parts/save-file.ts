/** Lets the browser save a file for the person. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has opened the file by the next turn.
  setTimeout(() => URL.revokeObjectURL(link.href), 0);
}
