/** `orrery explain`: explains an order, a fill or a liquidation of a run with its numbers. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandModule } from 'yargs';
import {
  countLiquidations,
  explainLiquidation,
} from '../../backtest/explain/explain-liquidation.ts';
import { explainOrder } from '../../backtest/explain/explain-order.ts';
import { queueStory } from '../../backtest/explain/queue-story.ts';
import type { OrderRow, StrategyOutput } from '../../backtest/output.ts';
import { address } from '../../num/units.ts';
import { fileError } from '../../platform/file-error.ts';
import { writeWholeFile } from '../../platform/whole-file.ts';
import { latencyOf, renderExplanation, renderLiquidation } from '../../report/explain-page.ts';
import { pageLibraries, type PageLibraries } from '../../report/libraries.ts';
import { readRun, type RecordedRun } from '../../run-plan/run-folder.ts';
import {
  InputError,
  Interrupted,
  isInterrupted,
  print,
  printJson,
  startProgress,
} from '../cli-support.ts';
import { shellWord } from '../../platform/shell-word.ts';

interface ExplainArguments {
  readonly run: string;
  readonly what: string;
  readonly strategy: string | undefined;
  readonly html: boolean;
  readonly json: boolean;
}

export const command: CommandModule<object, ExplainArguments> = {
  command: 'explain <run> <what>',
  builder: (yargs) =>
    yargs
      .positional('run', { type: 'string', demandOption: true, describe: 'folder of a run' })
      .positional('what', {
        type: 'string',
        demandOption: true,
        describe: 'order id or its first digits, #order-number, fill:<id>, or liquidation[:n]',
      })
      .option('strategy', { type: 'string', describe: 'id of the strategy, if there are several' })
      .option('html', {
        type: 'boolean',
        default: false,
        describe: 'write a page to the folder of the run',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example('$0 explain reports/sma-cross 9f3a2c', 'an order by the first digits of its id')
      .example('$0 explain reports/sma-cross fill:77', 'a fill and its order')
      .example("$0 explain reports/sma-cross '#12' --html", 'a page with the steps of its queue')
      .example('$0 explain reports/sma-cross liquidation:1', 'the first liquidation'),
  handler: async ({ run: folder, what, strategy, html, json }) => {
    const run = await readRun(folder);
    const journal = join(folder, 'journal.orrery');
    const bytes = await readFile(journal).catch((error: unknown) => {
      if (run.assumptions.some(({ title }) => title === 'No journal')) {
        throw new InputError(`${folder}: the run kept no journal; repeat it without --no-journal`);
      }
      throw fileError(journal, error);
    });
    const found = strategiesOf(run, strategy, folder);
    const { lines, name, render } = /^liquidation(:\d+)?$/.test(what)
      ? liquidation(found, Number(what.split(':')[1] ?? 1), bytes, json, folder)
      : order(run, found, { what, journal: bytes, quiet: json, folder });
    if (!html) {
      if (json) printJson({ what, lines });
      else for (const line of lines) print(line);
      return;
    }
    const page = join(folder, `explain-${name}.html`);
    const again = `npx orrery explain ${shellWord(folder)} '${what}'${strategy === undefined ? '' : ` --strategy ${shellWord(strategy)}`}`;
    await writeWholeFile(page, Buffer.from(render(again, await pageLibraries())));
    if (json) printJson({ what, lines, page });
    else print(`page     ${page}`);
  },
};

/** Lines of the terminal, and a page of the same with the part of its name. */
interface Explanation {
  readonly lines: string[];
  readonly name: string;
  readonly render: (command: string, libraries: PageLibraries) => string;
}

function strategiesOf(
  { strategies }: RecordedRun,
  wanted: string | undefined,
  folder: string,
): readonly StrategyOutput[] {
  if (wanted === undefined) return strategies;
  const found = strategies.filter(({ id }) => id === wanted);
  if (found.length > 0) return found;
  throw new InputError(
    `${folder}: no strategy ${wanted} in the run; there are ${strategies.map(({ id }) => id).join(', ')}`,
  );
}

interface OrderQuery {
  readonly what: string;
  readonly journal: Uint8Array;
  readonly quiet: boolean;
  readonly folder: string;
}

function order(
  run: RecordedRun,
  strategies: readonly StrategyOutput[],
  { what, journal, quiet, folder }: OrderQuery,
): Explanation {
  const matches = strategies.flatMap((strategy) =>
    strategy.orders.filter(matcher(what, strategy)).map((row) => ({ row, strategy })),
  );
  const [match, second] = matches;
  if (match === undefined) {
    throw new InputError(`${folder}: no ${what}; the run has ${available(strategies)}`);
  }
  if (second !== undefined) {
    throw new InputError(
      `${what} matches ${String(matches.length)} orders, such as ${match.row.orderId} and ${second.row.orderId}`,
    );
  }
  const { row, strategy } = match;
  const market = run.markets.find(({ symbol }) => symbol === row.symbol);
  if (market === undefined) throw new InputError(`${folder}: no market ${row.symbol} in the run`);
  const story = withProgress(quiet, (options) => queueStory(journal, row.orderNumber, options));
  const latency = latencyOf(run.assumptions);
  const lines = explainOrder({
    order: row,
    fills: strategy.fills.filter(({ orderNumber }) => orderNumber === row.orderNumber),
    market,
    latency,
    story,
  });
  return {
    lines,
    name: String(row.orderNumber),
    render: (command, libraries) =>
      renderExplanation(run, { order: row, strategy, latency, story, command }, libraries),
  };
}

/** Valid numbers, for the error message. */
function available(strategies: readonly StrategyOutput[]): string {
  const fills = strategies.flatMap((strategy) => strategy.fills.map(({ fillId }) => fillId));
  const orders = strategies.flatMap((strategy) =>
    strategy.orders.map(({ orderNumber }) => orderNumber),
  );
  const range = (prefix: string, all: readonly number[]): string => {
    const [first, last] = [Math.min(...all), Math.max(...all)];
    return all.length === 0 ? 'none' : `${prefix}${String(first)} … ${prefix}${String(last)}`;
  };
  return `${String(orders.length)} orders (${range('#', orders)}) and ${String(fills.length)} fills (${range('fill:', fills)})`;
}

function matcher(what: string, { fills }: StrategyOutput): (row: OrderRow) => boolean {
  if (/^fill:\d+$/.test(what)) {
    const id = Number(what.slice('fill:'.length));
    const numbers = new Set(
      fills.filter(({ fillId }) => fillId === id).map(({ orderNumber }) => orderNumber),
    );
    return ({ orderNumber }) => numbers.has(orderNumber);
  }
  if (/^#\d+$/.test(what)) return ({ orderNumber }) => orderNumber === Number(what.slice(1));
  if (/^(0x)?[0-9a-f]{4,64}$/i.test(what)) {
    const prefix = what.replace(/^0x/i, '').toLowerCase();
    return ({ orderId }) => orderId.startsWith(prefix);
  }
  throw new InputError(
    `'${what}': must be an order’s id (at least 4 hex digits of it), #number, fill:<id> or liquidation[:n]`,
  );
}

function liquidation(
  strategies: readonly StrategyOutput[],
  place: number,
  journal: Uint8Array,
  quiet: boolean,
  folder: string,
): Explanation {
  const counts = strategies
    .map((strategy) => ({ strategy, times: countLiquidations(strategy.liquidations) }))
    .filter(({ times }) => times > 0);
  const matches = counts.filter(({ times }) => times >= place && place > 0);
  const [match] = matches;
  if (match === undefined) {
    const each = counts.map(({ strategy, times }) => `${String(times)} of ${strategy.id}`);
    const available =
      each.length === 0 ? 'there are no liquidations' : `the run has ${each.join(', ')}`;
    throw new InputError(`${folder}: no liquidation ${String(place)}; ${available}`);
  }
  if (matches.length > 1) {
    const ids = matches.map(({ strategy }) => strategy.id);
    throw new InputError(
      `${folder}: ${ids.join(' and ')} each have a liquidation ${String(place)}; select one with --strategy`,
    );
  }
  const { id, account, subaccountIndex } = match.strategy;
  const lines = withProgress(quiet, (options) =>
    explainLiquidation(journal, address(account), subaccountIndex, place, options),
  );
  if (lines === null)
    throw new InputError(`${folder}: its journal does not belong to its run.json`);
  const title = `Liquidation ${String(place)} of ${id}`;
  return {
    lines: [title, '', ...lines],
    name: `liquidation-${String(place)}-${id}`,
    render: (command, libraries) => renderLiquidation(title, lines, command, libraries),
  };
}

function withProgress<T>(
  quiet: boolean,
  work: (options: { onProgress: (fraction: number) => void; cancelled: () => boolean }) => T,
): T {
  const progress = startProgress('explain', quiet);
  try {
    const result = work({
      onProgress: (fraction) => {
        progress.update(fraction);
      },
      cancelled: isInterrupted,
    });
    if (isInterrupted()) throw new Interrupted('interrupted');
    return result;
  } finally {
    progress.stop();
  }
}
