import type { CommandModule } from 'yargs';
import { verifyTape, type TapeVerification } from '../../backtest/verify-tape.ts';
import { EXIT, isInterrupted, print, printJson, setExitCode, startProgress, stopIfInterrupted } from '../manners.ts';
import { openTapes, specOf, unitOptions, type TapeSource, type UnitArguments } from './tape-source.ts';

interface VerifyArguments extends UnitArguments {
  readonly recording: string;
  readonly json: boolean;
}

export const verifyCommand: CommandModule<object, VerifyArguments> = {
  command: 'verify <recording>',
  describe: 'Rebuild the book of a dataset or raw file and hold it against the venue',
  builder: (yargs) =>
    yargs
      .positional('recording', { type: 'string', demandOption: true, describe: 'dataset or file' })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .options(unitOptions)
      .example('$0 data verify data/btcusdt-20240808', ''),
  handler: async (args) => {
    const markets = [];
    for (const tape of await openTapes(args.recording, args)) {
      markets.push({ tape, verification: await verify(tape, args.json) });
    }
    const passed = markets.every(({ verification }) => passes(verification));
    if (!passed) setExitCode(EXIT.failed);
    if (args.json) {
      printJson({
        passed,
        markets: markets.map(({ tape, verification }) => ({
          symbol: tape.units().symbol,
          passed: passes(verification),
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

function passes({ compared, mismatched, crossedBooks, violations }: TapeVerification): boolean {
  return compared > 0 && mismatched === 0 && crossedBooks === 0 && violations.length === 0;
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
  print(`depth, trades    ${String(sync.depths)}, ${String(sync.trades)}`);
  print(`gaps             ${String(sync.gaps)}, stale ${String(sync.staleUs / 1e6)} s`);
  print(`dropped updates  ${String(sync.dropped)} (older than the snapshot, or repeated)`);
  print(`out of order     ${String(order.outOfOrder)}, beyond the window ${String(order.late)}`);
  print(
    `feed latency     ${String(order.minFeedLatencyUs / 1000)} to ${String(order.maxFeedLatencyUs / 1000)} ms` +
      (order.minFeedLatencyUs < 0 ? ' (negative: the recorder’s clock runs behind the venue’s)' : ''),
  );
  for (const violation of verification.violations) print(`VIOLATION        ${violation}`);
  if (verification.compared === 0) print('FAILED           nothing could be compared');
  print(`state hash       ${verification.stateHash}`);
}
