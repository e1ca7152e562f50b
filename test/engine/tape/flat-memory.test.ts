/** Memory of an exchange does not grow with the tape once retention is full. */
import { expect, test } from 'vitest';
import { Exchange } from '../../../src/engine/exchange.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../../src/gateway/exchange-config.ts';
import { JournalWriter } from '../../../src/journal/format/frames.ts';
import { RecordedExchange } from '../../../src/journal/replay/recorded-exchange.ts';
import { madeUpTape, specOf, START_US } from '../../backtest/made-up.ts';
import { timeUs } from '../../../src/num/units.ts';

const RETENTION = {
  ...DEFAULT_EXCHANGE_CONFIG.retention,
  tradesPerMarket: 300,
  candleMinutesPerMarket: 2,
};
/** As in a backtest that writes its journal to a file. */
const DRAIN_AT = 1 << 16;

function heldAfter(seconds: number): { readonly state: number; readonly journal: number } {
  const config = { ...DEFAULT_EXCHANGE_CONFIG, retention: RETENTION };
  const exchange = new RecordedExchange(new Exchange(config), {
    checkpointEvery: 1000,
    journal: new JournalWriter(config),
  });
  exchange.submit({ kind: 'listMarket', timeUs: timeUs(START_US), spec: specOf() });
  let journal = 0;
  for (const command of madeUpTape(seconds)) {
    exchange.submit(command);
    journal = Math.max(journal, exchange.journalSize);
    if (exchange.journalSize >= DRAIN_AT) exchange.drainJournal();
  }
  return { state: exchange.engine.snapshot().length, journal };
}

test('a tape of ten times the length takes at most a tenth more memory', () => {
  const short = heldAfter(120);
  const long = heldAfter(1200);
  expect(short.state).toBeGreaterThan(1000);
  expect(long.state / short.state).toBeLessThanOrEqual(1.1);
  expect(long.journal / short.journal).toBeLessThanOrEqual(1.1);
});
