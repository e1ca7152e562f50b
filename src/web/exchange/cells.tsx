/** Cells that several tables have: a market, a side, and a result. */
import { result, toneOf } from '../exact-text.ts';
import { choose, markets, type Market } from './markets.ts';

export const marketOf = (of: string): Market | undefined =>
  markets.value.find((one) => one.symbol === of);

export function Result({ text }: { readonly text: string }) {
  return <span class={toneOf(text)}>{result(text)}</span>;
}

export function MarketLink({ of }: { readonly of: string }) {
  return (
    <button
      type="button"
      class="link"
      onClick={() => {
        choose(of);
      }}
    >
      {of}
    </button>
  );
}

export function Side({ quantity }: { readonly quantity: string }) {
  const isSell = quantity.startsWith('-');
  return <span class={isSell ? 'loss' : 'gain'}>{isSell ? '▼ sell' : '▲ buy'}</span>;
}
