/**
 * A strategy's samples, orders and fills as Arrow files, for notebooks and databases. Exact
 * decimals stay text; times are 64-bit integers of µs since the Unix epoch. Only the content of the
 * files is deterministic, not their bytes.
 */
import {
  Bool,
  Float64,
  Int64,
  Table,
  tableToIPC,
  Utf8,
  Vector,
  vectorFromArray,
  type DataType,
} from 'apache-arrow';
import type { BacktestOutput, StrategyOutput } from '../backtest/output.ts';

type Cell = number | string | boolean | null;

/** One row per sample; one column `position SYMBOL` per market of the run. */
export function equityArrow(strategy: StrategyOutput, output: BacktestOutput): Uint8Array {
  const rows = strategy.equity.map(({ positions, ...point }) => ({
    ...point,
    ...Object.fromEntries(
      output.markets.map(({ symbol }, i) => [`position ${symbol}`, positions[i] ?? 0]),
    ),
  }));
  return arrow(rows);
}

export function ordersArrow(strategy: StrategyOutput): Uint8Array {
  return arrow(strategy.orders.map((row) => ({ ...row })));
}

/** One markout column per horizon. */
export function fillsArrow(strategy: StrategyOutput): Uint8Array {
  return arrow(
    strategy.fills.map(({ markouts, ...fill }) => ({
      ...fill,
      mid1s: markouts[0] ?? null,
      mid10s: markouts[1] ?? null,
      mid60s: markouts[2] ?? null,
    })),
  );
}

/** Columns are those of the first row; a column's type is that of its first non-null value. */
function arrow(rows: readonly Readonly<Record<string, Cell>>[]): Uint8Array {
  const names = Object.keys(rows[0] ?? {});
  const columns = names.map((name) => {
    const values = rows.map((row) => row[name] ?? null);
    return [name, vectorOf(name, values)] as const;
  });
  return tableToIPC(new Table(Object.fromEntries(columns)), 'file');
}

function vectorOf(name: string, values: readonly Cell[]): Vector {
  const type = typeOf(name, values.find((value) => value !== null) ?? null);
  const cells =
    type instanceof Int64 ? values.map((value) => (value === null ? null : BigInt(value))) : values;
  return vectorFromArray(cells, type) as Vector;
}

function typeOf(name: string, value: Cell): DataType {
  if (name.endsWith('Us')) return new Int64();
  if (typeof value === 'string') return new Utf8();
  return typeof value === 'boolean' ? new Bool() : new Float64();
}
