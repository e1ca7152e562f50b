/** Quotes a word for a command that is printed, so that it can be copied to a shell. */
export function shellWord(text: string): string {
  return /^[\w./:,=+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
