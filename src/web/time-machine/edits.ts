import type { ParameterChange } from '../../time-machine/what-if/parameters.ts';

/** Changes of a journal as the page sends them: commands are JSON text, checked in the worker. */
export type EditText =
  | { readonly kind: 'drop'; readonly seq: number }
  /** Without one order of a command that places several; `order` names it for the reader. */
  | {
      readonly kind: 'dropOrder';
      readonly seq: number;
      readonly nth: number;
      readonly order: number;
    }
  | { readonly kind: 'replace'; readonly seq: number; readonly json: string }
  | { readonly kind: 'insert'; readonly before: number; readonly json: string }
  | { readonly kind: 'move'; readonly seq: number; readonly before: number }
  | {
      readonly kind: 'scalePrices';
      readonly market: number;
      readonly fromSeq: number;
      readonly toSeq: number;
      readonly factorPpm: number;
    }
  | { readonly kind: 'parameter'; readonly change: ParameterChange }
  /** More collateral just before a command, as a share of the account's equity there. */
  | {
      readonly kind: 'collateral';
      readonly subaccount: number;
      /** Its name. */
      readonly owner: string;
      readonly before: number;
      readonly sharePpm: number;
    };

/** Characters of a value in a title. */
const MOST_SHOWN = 32;

export function editTitle(edit: EditText): string {
  switch (edit.kind) {
    case 'drop':
      return `without command ${String(edit.seq)}`;
    case 'dropOrder':
      return `without order #${String(edit.order)}`;
    case 'replace':
      return `another command ${String(edit.seq)}`;
    case 'insert':
      return `a command before ${String(edit.before)}`;
    case 'move':
      return `command ${String(edit.seq)} before ${String(edit.before)}`;
    case 'scalePrices':
      return `prices × ${(edit.factorPpm / 1e6).toFixed(4)} from ${String(edit.fromSeq)} to ${String(edit.toSeq)}`;
    case 'parameter': {
      const { symbol, name, value } = edit.change;
      const shown = value.length > MOST_SHOWN ? `${value.slice(0, MOST_SHOWN)} …` : value;
      return `${name} of ${symbol ?? 'the exchange'} ${shown}`;
    }
    case 'collateral':
      return `${(edit.sharePpm / 1e4).toFixed(2)} % more collateral of ${edit.owner} before ${String(edit.before)}`;
  }
}
