/** The exchange of a backtest: its markets listed and its strategies funded, or a resumed one. */
import { Exchange } from '../engine/exchange.ts';
import { outcomeCode } from '../engine/refusals.ts';
import { JournalWriter } from '../journal/format/frames.ts';
import { RecordedExchange } from '../journal/replay/recorded-exchange.ts';
import type { ExchangeConfig, MarketSpec } from '../engine/config.ts';
import type { BacktestCheckpoint } from './output.ts';
import type { StrategyEntry } from './strategy-run.ts';

const CHECKPOINT_EVERY = 5000;

export interface ExchangeInput {
  readonly config: ExchangeConfig;
  /** In the order of their ids from 0, as tape commands refer to them. */
  readonly markets: readonly MarketSpec[];
  readonly strategies: readonly StrategyEntry[];
  /** Target of the journal: memory, none, or a sink that receives it in chunks. */
  readonly journal: 'memory' | 'none' | ((bytes: Uint8Array) => void);
  /** Checkpoint to resume from; the other input must equal that of the stopped run. */
  readonly resume?: BacktestCheckpoint | null;
}

/** Throws if a market cannot be listed. */
export function openExchange(input: ExchangeInput): RecordedExchange {
  const { config, markets, strategies, journal, resume = null } = input;
  const options = { checkpointEvery: journal === 'none' ? 0 : CHECKPOINT_EVERY };
  if (resume !== null) {
    return new RecordedExchange(Exchange.restore(resume.engine), {
      ...options,
      journal: journal === 'none' ? null : new JournalWriter(null),
    });
  }
  const exchange = new RecordedExchange(new Exchange(config), {
    ...options,
    journal: journal === 'none' ? null : new JournalWriter(config),
  });
  const atUs = config.genesisTimeUs;
  for (const spec of markets) {
    const listed = exchange.submit({ kind: 'listMarket', timeUs: atUs, spec });
    if (listed !== 'ok') {
      throw new Error(`market ${spec.symbol} cannot be listed: ${outcomeCode(listed)}`);
    }
  }
  for (const { account, subaccountIndex, deposit: amount } of strategies) {
    exchange.submit({ kind: 'deposit', timeUs: atUs, account, subaccountIndex, amount });
  }
  return exchange;
}
