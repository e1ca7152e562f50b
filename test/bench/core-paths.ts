/** `core-paths <path> <commands>`: applies commands of one path to an engine. */
import type { Command } from '../../src/engine/commands.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import { timeUs } from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { madeUpTape } from '../backtest/made-up.ts';
import { barCommand, walk } from './bar-flow.ts';
import { Flow, openExchange } from './engine-flow.ts';
import { limitsFrom, openLimits } from './limits.ts';
import { makeMix } from './mix.ts';

const START_US = DEFAULT_EXCHANGE_CONFIG.genesisTimeUs;
/** `madeUpTape` has so many a second. */
const TAPE_COMMANDS = 20;

const [path = '', words = ''] = process.argv.slice(2);
const count = Number(words);

function openMarket(terms: Readonly<Record<string, unknown>>): Exchange {
  const spec = parseMarketSpec(
    { symbol: 'T', tickSize: '0.1', lotSize: '0.001', recordedLiquidity: true, ...terms },
    keccak,
  );
  if (!spec.ok) throw new Error(spec.error);
  const exchange = new Exchange({ ...DEFAULT_EXCHANGE_CONFIG, genesisTimeUs: timeUs(START_US) });
  exchange.apply({ kind: 'listMarket', timeUs: timeUs(START_US), spec: spec.value });
  return exchange;
}

const PATHS: Readonly<Record<string, () => readonly [Exchange, readonly Command[]]>> = {
  orders: () => {
    const flow = new Flow(makeMix(count));
    return [openExchange(), flow.commands(0, flow.mix.count)];
  },
  limits: () => {
    const { exchange: opened, firstUser } = openLimits();
    return [opened, limitsFrom(0, firstUser, count)];
  },
  levels: () => {
    const commands = madeUpTape(Math.ceil(count / TAPE_COMMANDS));
    return [openMarket({ indexSource: 'mid' }), commands.slice(0, count)];
  },
  bars: () => {
    const terms = { indexSource: 'mid', markSource: 'last', funding: { source: 'external' } };
    return [openMarket(terms), [...walk(count)].map((bar) => barCommand(bar, START_US))];
  },
};

const opened = PATHS[path]?.();
if (opened === undefined) throw new Error(`no path '${path}'`);
const [exchange, commands] = opened;
let events = 0;
for (const command of commands) {
  exchange.apply(command, () => {
    events += 1;
  });
}
if (events < commands.length) throw new Error('the commands had no effect');
