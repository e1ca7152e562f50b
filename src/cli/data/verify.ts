import { countText } from '../../base/count-text.ts';
import { noBookText } from '../../backtest/no-book.ts';
import type { CommandModule } from 'yargs';
import { dateText } from '../../base/date-text.ts';
import { NOT_COMPARED, type NotCompared } from '../../tape/touch-comparison.ts';
import type { RecordFacts } from '../../tape/record-checks.ts';
import { faultsOf } from '../../tape/verdict.ts';
import { verifyTape, type TapeVerification } from '../../tape/verify-tape.ts';
import { inSteps } from '../../gateway/encode.ts';
import {
  EXIT,
  isInterrupted,
  print,
  printJson,
  setExitCode,
  startProgress,
  stopIfInterrupted,
} from '../cli-support.ts';
import {
  openTapes,
  specOf,
  unitOptions,
  type TapeSource,
  type UnitArguments,
} from './tape-options.ts';

interface VerifyArguments extends UnitArguments {
  readonly recording: string;
  readonly json: boolean;
  readonly 'allow-gaps': boolean;
}

interface Verified {
  readonly tape: TapeSource;
  readonly verification: TapeVerification;
  readonly records: RecordFacts;
  /** Reasons of a failure. */
  readonly faults: readonly string[];
}

export const verifyCommand: CommandModule<object, VerifyArguments> = {
  command: 'verify <recording>',
  describe: 'Rebuild the book of a dataset or raw file and compare it with the venue',
  builder: (yargs) =>
    yargs
      .positional('recording', {
        type: 'string',
        demandOption: true,
        describe: 'dataset folder or raw file',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .option('allow-gaps', {
        type: 'boolean',
        default: false,
        describe: 'gaps are reported and do not fail',
      })
      .options(unitOptions)
      .example('$0 data verify data/btcusdt-20240808', '')
      .example('$0 data verify data/btc --fidelity bars', 'bars only, although there is a book'),
  handler: async (args) => {
    const markets: Verified[] = [];
    for (const tape of await openTapes(args.recording, args)) {
      const verification = await verify(tape, args.json);
      const { syncFacts: sync, orderingFacts: ordering } = tape.steps;
      const allowGaps = args['allow-gaps'] || tape.hasGapsByNature;
      const checksums = tape.streams.flatMap((stream) => stream.checksums ?? []);
      const records = tape.checks.finish();
      const faults = faultsOf({ verification, sync, ordering, records, allowGaps, checksums });
      markets.push({ tape, verification, records, faults });
    }
    const passed = markets.every(({ faults }) => faults.length === 0);
    if (!passed) setExitCode(EXIT.failed);
    if (args.json) {
      printJson({
        passed,
        markets: markets.map(({ tape, verification, records, faults }) => ({
          symbol: tape.units().symbol,
          passed: faults.length === 0,
          faults,
          ...verification,
          ordering: tape.steps.orderingFacts,
          sync: tape.steps.syncFacts,
          records,
        })),
      });
      return;
    }
    for (const market of markets) say(market);
  },
};

async function verify(tape: TapeSource, quiet: boolean): Promise<TapeVerification> {
  const progress = startProgress('verify', quiet);
  try {
    const verification = await verifyTape(tape.steps, () => specOf(tape.units()), {
      onBook: () => {
        progress.update(tape.progress());
      },
      cancelled: isInterrupted,
    });
    stopIfInterrupted();
    return verification;
  } finally {
    progress.stop();
  }
}

function hasBook({ steps }: TapeSource): boolean {
  const { snapshots, depths, orders } = steps.syncFacts;
  return snapshots + depths + orders > 0;
}

function say({ tape, verification, records, faults }: Verified): void {
  const units = tape.units();
  const order = tape.steps.orderingFacts;
  const sync = tape.steps.syncFacts;
  print(`${units.symbol}${units.inverse ? ' (coin-margined: book checks only)' : ''}`);
  print(
    `compared         ${String(verification.compared)} of ${String(verification.books)} updates with ` +
      `${String(verification.touches)} best prices of the venue`,
  );
  for (const [reason, n] of Object.entries(verification.notCompared)) {
    print(`  not compared   ${String(n)} ${NOT_COMPARED[reason as NotCompared]}`);
  }
  print(`mismatched       ${String(verification.mismatched)}`);
  for (const miss of verification.mismatches) {
    print(
      `  update ${String(miss.updateId)}, ${dateText(miss.timeUs)}, line ${String(miss.line)}: venue ${miss.venue}`,
    );
    print(`  ${' '.repeat(String(miss.updateId).length + 7)} rebuilt ${miss.rebuilt}`);
  }
  for (const { checksums } of tape.streams) {
    if (checksums === undefined) continue;
    const { compared, mismatched, lines } = checksums;
    const places = mismatched === 0 ? '' : `, first at lines ${lines.join(', ')}`;
    print(`checksums        ${String(compared)}, ${String(mismatched)} differ${places}`);
  }
  print(`crossed books    ${String(verification.crossedBooks)}`);
  print(`snapshots, depth ${String(sync.snapshots)}, ${String(sync.depths)}`);
  print(`trades, orders   ${String(sync.trades)}, ${String(sync.orders)}`);
  if (sync.bars > 0) print(`bars             ${String(sync.bars)}`);
  const span = (sync.lastUs - sync.firstUs) / 1e6;
  const staleUs = sync.staleUs + records.silentBookUs;
  const withoutBook = hasBook(tape) ? `, ${noBookText(staleUs)} of ${String(span)} s` : '';
  print(`gaps             ${String(sync.gaps)}${withoutBook}`);
  for (const { fromUs, toUs, reason } of sync.gapList.slice(0, 10)) {
    print(`  ${dateText(fromUs)} to ${dateText(toUs)}: ${reason}`);
  }
  if (records.silenceCount > 0) print(`suspected gaps   ${String(records.silenceCount)}`);
  for (const { feed, fromUs, toUs } of records.silences.slice(0, 10)) {
    print(`  ${dateText(fromUs)} to ${dateText(toUs)}: no ${feed}, unusual for the feed`);
  }
  if (records.missingTrades > 0) print(`missing trades   ${String(records.missingTrades)}`);
  for (const { timeUs, fromId, toId } of records.missingTradesList.slice(0, 10)) {
    print(`  before ${dateText(timeUs)}: ids ${String(fromId)} to ${String(toId)}`);
  }
  print(
    `dropped updates  ${String(sync.dropped)}, of which ${String(sync.repeatedUpdates)} repeated`,
  );
  print(`repeated         ${countText(sync.duplicates + records.repeated, 'record')}`);
  print(`out of order     ${String(order.outOfOrder)}, beyond the window ${String(order.late)}`);
  if (sync.jumps > 0) print(`price jumps      ${String(sync.jumps)} of more than 10 %`);
  for (const { timeUs, fromTicks, toTicks } of sync.jumpList.slice(0, 10)) {
    const price = (ticks: number): string => inSteps(Math.round(ticks), units.tickSize);
    print(`  ${dateText(timeUs)}: ${price(fromTicks)} to ${price(toTicks)}`);
  }
  print(
    `feed latency     ${String(order.minFeedLatencyUs / 1000)} to ${String(order.maxFeedLatencyUs / 1000)} ms` +
      (order.minFeedLatencyUs < 0 ? ' (negative: the recorder’s clock is behind the venue’s)' : ''),
  );
  for (const violation of verification.violations) print(`VIOLATION        ${violation}`);
  if (verification.touches === 0) {
    print('nothing to compare with: the recording has no best prices of the venue');
  } else if (!hasBook(tape)) {
    print('nothing to compare with: the recording has best prices, and no book');
  }
  for (const what of records.unchecked) print(`not checked      ${what}`);
  print(`state hash       ${verification.stateHash}`);
  for (const fault of faults) print(`fault            ${fault}`);
  print(faults.length === 0 ? 'passed' : 'FAILED');
}
