/** What is selected, as text for the address: `order:8841`, `account:17`, `market:0`. */
export type SelectionKind = 'order' | 'account' | 'market';

export const selectionText = (kind: SelectionKind, id: number): string => `${kind}:${String(id)}`;

/** The id if that kind is selected; null otherwise. */
export function selectedId(selection: string | null, kind: SelectionKind): number | null {
  const [, of, id] = /^(\w+):(\d{1,15})$/.exec(selection ?? '') ?? [];
  return of === kind ? Number(id) : null;
}
