/** Another value of a parameter of the exchange or of a market, from the first command on. */
import { useEffect, useState } from 'preact/hooks';
import type { Parameters } from '../../time-machine/what-if/parameters.ts';
import { edits, problem, runFork } from './fork.ts';
import { engine } from './store.ts';

/** Shown first: they decide most liquidations. */
const FIRST = 'marginTiers';

export function ParameterForm() {
  const [all, setAll] = useState<Parameters | null>(null);
  const [symbol, setSymbol] = useState<string | null>(null);
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const choose = (of: Parameters, market: string | null, wanted: string): void => {
    const texts = textsOf(of, market);
    const chosen = wanted in texts ? wanted : (Object.keys(texts)[0] ?? '');
    setSymbol(market);
    setName(chosen);
    setValue(texts[chosen] ?? '');
  };
  useEffect(() => {
    engine.parameters().then(
      (found) => {
        setAll(found);
        choose(found, found.markets[0]?.symbol ?? null, FIRST);
      },
      (error: unknown) => {
        problem.value = (error as Error).message;
      },
    );
  }, []);
  if (all === null) return <p class="soft">Reading the parameters …</p>;
  const texts = textsOf(all, symbol);
  const isLong = (texts[name] ?? '').startsWith('[') || (texts[name] ?? '').startsWith('{');
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        const others = edits.value.filter(
          (edit) =>
            edit.kind !== 'parameter' || edit.change.symbol !== symbol || edit.change.name !== name,
        );
        void runFork([...others, { kind: 'parameter', change: { symbol, name, value } }]);
      }}
    >
      <div class="actions">
        <label>
          of{' '}
          <select
            value={symbol ?? ''}
            onChange={(event) => {
              const { value: chosen } = event.currentTarget;
              choose(all, chosen === '' ? null : chosen, name);
            }}
          >
            {all.markets.map((market) => (
              <option key={market.symbol} value={market.symbol}>
                {market.symbol}
              </option>
            ))}
            <option value="">the exchange</option>
          </select>
        </label>
        <label>
          parameter{' '}
          <select
            value={name}
            onChange={(event) => {
              choose(all, symbol, event.currentTarget.value);
            }}
          >
            {Object.keys(texts).map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
        {isLong ? null : (
          <label>
            value{' '}
            <input
              id="parameter-value"
              value={value}
              autocomplete="off"
              onInput={(event) => {
                setValue(event.currentTarget.value);
              }}
            />
          </label>
        )}
        <button class="button primary">Run both</button>
      </div>
      {isLong ? (
        <label>
          value
          <textarea
            id="parameter-value"
            spellcheck={false}
            value={value}
            onInput={(event) => {
              setValue(event.currentTarget.value);
            }}
          />
        </label>
      ) : null}
    </form>
  );
}

const textsOf = (of: Parameters, symbol: string | null): Readonly<Record<string, string>> =>
  symbol === null
    ? of.exchange
    : (of.markets.find((market) => market.symbol === symbol)?.terms ?? {});
