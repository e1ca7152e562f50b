/** `orrery compare`: compares the same strategy in two runs, such as live and backtest. */
import { countText } from '../../base/count-text.ts';
import type { CommandModule } from 'yargs';
import {
  compareOrders,
  firstDifference,
  readCompared,
  termDifferences,
  type ComparedOrder,
} from '../../live/compare-runs.ts';
import { gapText } from '../../live/reconcile.ts';
import { EXIT, print, printJson, setExitCode } from '../cli-support.ts';

interface CompareArguments {
  readonly left: string;
  readonly right: string;
  readonly strategy: string | undefined;
  readonly json: boolean;
}

const MAX_SHOWN = 20;

export const command: CommandModule<object, CompareArguments> = {
  command: 'compare <left> <right>',
  builder: (yargs) =>
    yargs
      .positional('left', {
        type: 'string',
        demandOption: true,
        describe: 'folder of the first run',
      })
      .positional('right', {
        type: 'string',
        demandOption: true,
        describe: 'folder of the second run',
      })
      .option('strategy', {
        type: 'string',
        describe: 'id of the strategy, if a backtest has several',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example('$0 compare live/my reports/my', 'exit code 1 if they differ'),
  handler: async ({ left, right, strategy = null, json }) => {
    const runs = [await readCompared(left, strategy), await readCompared(right, strategy)] as const;
    const [one, other] = runs;
    const comparison = compareOrders(one.orders, other.orders);
    const { pairs, leftOnly, rightOnly } = comparison;
    const differing = pairs.filter(({ differences }) => differences.length > 0);
    const first = firstDifference(one, other);
    const isVirtual = runs.every((run) => run.isVirtual);
    const terms = termDifferences(one, other);
    // In virtual time the sequences decide, so that the pairing needs no tolerance.
    const equal = isVirtual
      ? first === null
      : differing.length + leftOnly.length + rightOnly.length === 0;
    if (!equal || terms.length > 0) setExitCode(EXIT.failed);
    if (json) {
      const same = equal && terms.length === 0;
      const failures = runs.map(({ failure }) => failure);
      const gaps = runs.map((run) => run.gaps);
      printJson({ same, isVirtual, failures, gaps, terms, firstDifference: first, ...comparison });
      return;
    }
    for (const [folder, { failure, gaps }] of [
      [left, one],
      [right, other],
    ] as const) {
      if (failure !== null) print(`${folder}: the run ended early: ${failure}`);
      for (const gap of gaps) print(`${folder}: ${gapText(gap)}`);
    }
    if (terms.length > 0) print(`terms that differ: ${String(terms.length)}`);
    for (const term of terms.slice(0, MAX_SHOWN)) {
      print(`  ${term.name}: ${term.left ?? 'none'} against ${term.right ?? 'none'}`);
    }
    if (terms.length > MAX_SHOWN) print(`  and ${String(terms.length - MAX_SHOWN)} more`);
    for (const [folder, { foreignOrders }] of [
      [left, one],
      [right, other],
    ] as const) {
      if (foreignOrders === 0) continue;
      print(`${folder}: orders of other accounts in its exchange: ${String(foreignOrders)}`);
    }
    if (isVirtual && first === null) {
      const times = new Set(other.equity.map(({ timeUs }) => timeUs));
      const common = one.equity.filter(({ timeUs }) => times.has(timeUs)).length;
      const samples =
        common === one.equity.length && common === other.equity.length
          ? `${countText(common, 'sample')} of the equity`
          : `${countText(common, 'sample')} of the equity that both have ` +
            `(of ${String(one.equity.length)} and ${String(other.equity.length)})`;
      print(
        `equal: ${countText(one.orders.length, 'order')}, ${countText(one.fills.length, 'fill')}, ${samples}`,
      );
      return;
    }
    if (first !== null) {
      print(`first difference: ${first.what} ${String(first.number)}`);
      print(`  ${left}: ${first.left ?? 'none'}`);
      print(`  ${right}: ${first.right ?? 'none'}`);
    }
    print(
      `${countText(pairs.length, 'order')} in both, ${String(differing.length)} of them differ`,
    );
    for (const { left: order, differences } of differing.slice(0, MAX_SHOWN)) {
      print(`  ${words(order)}: ${differences.join('; ')}`);
    }
    if (differing.length > MAX_SHOWN) print(`  and ${String(differing.length - MAX_SHOWN)} more`);
    for (const [folder, only] of [
      [left, leftOnly],
      [right, rightOnly],
    ] as const) {
      if (only.length === 0) continue;
      print(`${countText(only.length, 'order')} in ${folder} only`);
      for (const order of only.slice(0, MAX_SHOWN)) print(`  ${words(order)}`);
    }
  },
};

function words({ sentUs, side, size, symbol, price, averagePrice }: ComparedOrder): string {
  const bound = Number(price);
  // The bound of an order without a price is far from where it filled.
  const isFar =
    averagePrice !== null && (side === 'buy' ? bound > 2 * averagePrice : bound < averagePrice / 2);
  const at = isFar ? 'any price' : price;
  return `${new Date(sentUs / 1000).toISOString()} ${side} ${size} ${symbol} at ${at}`;
}
