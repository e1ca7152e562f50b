/** Orders, accounts and commands in text: a press selects them, and all their places light up. */
import { count } from '../exact-text.ts';
import { selectedId, selectionText } from './selection.ts';
import { sideTab } from './side-tab.ts';
import { seekTo, select, selection } from './store.ts';

export function OrderName({ id }: { readonly id: number }) {
  const chosen = selectedId(selection.value, 'order') === id;
  return (
    <button
      type="button"
      class="link"
      aria-pressed={chosen}
      onClick={() => {
        select(selectionText('order', id));
        sideTab.value = 'order';
      }}
    >
      #{String(id)}
    </button>
  );
}

export function AccountName({ id, name }: { readonly id: number; readonly name: string }) {
  const chosen = selectedId(selection.value, 'account') === id;
  return (
    <button
      type="button"
      class="link"
      aria-pressed={chosen}
      onClick={() => {
        select(selectionText('account', id));
        sideTab.value = 'account';
      }}
    >
      {name}
    </button>
  );
}

export function SeqLink({ seq }: { readonly seq: number }) {
  return (
    <button
      type="button"
      class="link"
      onClick={() => {
        seekTo(seq);
      }}
    >
      {count(seq)}
    </button>
  );
}

export const litOrder = (id: number | null): string =>
  id !== null && selectedId(selection.value, 'order') === id ? 'lit' : '';

export const litAccount = (id: number | null): string =>
  id !== null && selectedId(selection.value, 'account') === id ? 'lit' : '';
