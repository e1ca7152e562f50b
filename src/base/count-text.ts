/** `1 trial`, `2 trials`. */
export function countText(n: number, noun: string): string {
  return `${String(n)} ${noun}${n === 1 ? '' : 's'}`;
}
