import type { CommandModule } from 'yargs';
import { dateText } from '../../base/date-text.ts';
import { verifyTape, type TapeVerification } from '../../tape/verify-tape.ts';
import { EXIT, isInterrupted, print, printJson, setExitCode, startProgress, stopIfInterrupted } from '../cli-support.ts';
import { openTapes, specOf, unitOptions, type TapeSource, type UnitArguments } from './tape-options.ts';

interface VerifyArguments extends UnitArguments {
  readonly recording: string;
  readonly json: boolean;
}

export const verifyCommand: CommandModule<object, VerifyArguments> = {
  command: 'verify <recording>',
  describe: 'Rebuild the book of a dataset or raw file and compare it with the venue',
  builder: (yargs) =>
    yargs
      .positional('recording', { type: 'string', demandOption: true, describe: 'dataset folder or raw file' })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .options(unitOptions)
      .example('$0 data verify data/btcusdt-20240808', '')
      .example('$0 data verify data/btc --fidelity bars', 'bars only, although there is a book'),
  handler: async (args) => {
    const markets = [];
    for (const tape of await openTapes(args.recording, args)) {
      markets.push({ tape, verification: await verify(tape, args.json) });
    }
    const passed = markets.every(({ tape, verification }) => passes(tape, verification));
    if (!passed) setExitCode(EXIT.failed);
    if (args.json) {
      printJson({
        passed,
        markets: markets.map(({ tape, verification }) => ({
          symbol: tape.units().symbol,
          passed: passes(tape, verification),
          ...verification,
          ordering: tape.steps.orderingFacts,
          sync: tape.steps.syncFacts,
        })),
      });
      return;
    }
    for (const { tape, verification } of markets) say(tape, verification);
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

/**
 * Fails on a mismatch, and if there are venue prices with a book of which none could be compared.
 */
function passes(tape: TapeSource, verification: TapeVerification): boolean {
  const { commands, compared, touches, mismatched, crossedBooks, violations } = verification;
  if (commands === 0 && touches === 0) return false;
  if (hasBook(tape) && touches > 0 && compared === 0) return false;
  return mismatched === 0 && crossedBooks === 0 && violations.length === 0;
}

function hasBook({ steps }: TapeSource): boolean {
  const { snapshots, depths, orders } = steps.syncFacts;
  return snapshots + depths + orders > 0;
}

function say(tape: TapeSource, verification: TapeVerification): void {
  const units = tape.units();
  const order = tape.steps.orderingFacts;
  const sync = tape.steps.syncFacts;
  print(`${units.symbol}${units.inverse ? ' (coin-margined: book checks only)' : ''}`);
  print(`compared         ${String(verification.compared)} touches with the rebuilt book`);
  print(`mismatched       ${String(verification.mismatched)}`);
  for (const miss of verification.mismatches) {
    print(`  update ${String(miss.updateId)}, line ${String(miss.line)}: venue ${miss.venue}`);
    print(`  ${' '.repeat(String(miss.updateId).length + 7)} rebuilt ${miss.rebuilt}`);
  }
  print(`crossed books    ${String(verification.crossedBooks)}`);
  print(`snapshots, depth ${String(sync.snapshots)}, ${String(sync.depths)}`);
  print(`trades, orders   ${String(sync.trades)}, ${String(sync.orders)}`);
  if (sync.bars > 0) print(`bars             ${String(sync.bars)}`);
  print(`gaps             ${String(sync.gaps)}, stale ${String(sync.staleUs / 1e6)} s`);
  for (const { fromUs, toUs, reason } of sync.gapList.slice(0, 10)) {
    print(`  ${dateText(fromUs)} to ${dateText(toUs)}: ${reason}`);
  }
  print(`dropped updates  ${String(sync.dropped)} (older than the snapshot, or repeated)`);
  print(`repeated         ${String(sync.duplicates)} trades and bars`);
  print(`out of order     ${String(order.outOfOrder)}, beyond the window ${String(order.late)}`);
  print(
    `feed latency     ${String(order.minFeedLatencyUs / 1000)} to ${String(order.maxFeedLatencyUs / 1000)} ms` +
      (order.minFeedLatencyUs < 0 ? ' (negative: the recorder’s clock is behind the venue’s)' : ''),
  );
  for (const violation of verification.violations) print(`VIOLATION        ${violation}`);
  if (verification.touches === 0) {
    print('nothing to compare with: the recording has no best prices of the venue');
  } else if (!hasBook(tape)) {
    print('nothing to compare with: the recording has best prices, and no book');
  } else if (verification.compared === 0) {
    print('none of the best prices of the venue could be compared');
  }
  print(`state hash       ${verification.stateHash}`);
  print(passes(tape, verification) ? 'passed' : 'FAILED');
}
