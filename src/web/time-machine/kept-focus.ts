/** The element that had the focus before a key or button moved it into a field; null: none. */
let kept: HTMLElement | null = null;

export function keepFocus(): void {
  const { activeElement, body } = document;
  kept = activeElement instanceof HTMLElement && activeElement !== body ? activeElement : null;
}

/** Leaves a field. If the element was drawn again since, the one with this id is focused. */
export function giveFocusBack(field: HTMLElement, id: string | null = null): void {
  field.blur();
  if (kept === null) return;
  const target = kept.isConnected ? kept : document.getElementById(id ?? '');
  kept = null;
  target?.focus();
}
