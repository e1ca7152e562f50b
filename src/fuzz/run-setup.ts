/** Engine parameters of a profile, and the commands that open its exchange. */
import { InvariantError, must } from '../base/assert.ts';
import type { Command } from '../engine/commands.ts';
import type { ExchangeConfig, MarketSpec } from '../engine/config.ts';
import { parseExchangeConfig } from '../gateway/exchange-config.ts';
import { parseMarketSpec } from '../gateway/market-config.ts';
import type { Parsed } from '../gateway/parsed.ts';
import { address, marketId, priceTicks, quanta, timeUs, type Address } from '../num/units.ts';
import type { FuzzProfile } from './profile.ts';

export interface RunSetup {
  readonly config: ExchangeConfig;
  readonly specs: readonly MarketSpec[];
  readonly users: readonly Address[];
  readonly opening: readonly Command[];
}

/** Address of the i-th user: its number in every byte. */
export const userAddress = (i: number): Address =>
  address(`0x${(i + 1).toString(16).padStart(2, '0').repeat(20)}`);

export function setUp(profile: FuzzProfile): RunSetup {
  const startUs = timeUs(profile.startMs * 1000);
  const config = valueOf(parseExchangeConfig(profile.config, startUs));
  const specs = profile.markets.map((input) => valueOf(parseMarketSpec(input, feedIdIsGiven)));
  const users = profile.deposits.map((_, i) => userAddress(i));
  return { config, specs, users, opening: openingOf(profile, config, specs, users) };
}

/** Opening commands: listings, deposits, first prices and vault deposits. */
export function openingOf(
  profile: FuzzProfile,
  config: ExchangeConfig,
  specs: readonly MarketSpec[],
  users: readonly Address[],
): Command[] {
  const { genesisTimeUs } = config;
  const commands: Command[] = specs.map((spec) => ({
    kind: 'listMarket',
    timeUs: genesisTimeUs,
    spec,
  }));
  const deposit = (account: Address, whole: number): void => {
    const amount = quanta(BigInt(whole) * 1_000_000n);
    if (whole > 0) {
      commands.push({
        kind: 'deposit',
        timeUs: genesisTimeUs,
        account,
        subaccountIndex: 0,
        amount,
      });
    }
  };
  for (const [i, account] of users.entries()) deposit(account, profile.deposits[i] ?? 0);
  deposit(config.insuranceAccount, profile.insurance);
  for (const [i, spec] of specs.entries()) {
    const market = marketId(i);
    const ticks = priceTicks(must(profile.openingTicks[i], 'every market has an opening price'));
    if (spec.indexSource !== 'mid') {
      commands.push({
        kind: 'setIndex',
        timeUs: genesisTimeUs,
        market,
        priceTicks: ticks,
        text: String(ticks),
      });
    }
    if (spec.markSource === 'external') {
      commands.push({ kind: 'setMark', timeUs: genesisTimeUs, market, priceTicks: ticks });
    }
    const { markSource, indexSource } = spec;
    const ofBook = indexSource === 'mid' && markSource !== 'external';
    if (markSource === 'last' || markSource === 'mid' || ofBook) {
      // A first print and a first book give such a market its mark.
      const levels = [
        { side: 'bid', priceTicks: priceTicks(ticks - 1), lots: spec.minLots },
        { side: 'ask', priceTicks: priceTicks(ticks + 1), lots: spec.minLots },
      ] as const;
      commands.push({ kind: 'tapeDepth', timeUs: genesisTimeUs, market, levels });
      commands.push({
        kind: 'tapeTrade',
        timeUs: genesisTimeUs,
        market,
        priceTicks: ticks,
        lots: spec.minLots,
      });
    }
  }
  const [first] = users;
  if (profile.vault > 0 && first !== undefined) {
    commands.push({
      kind: 'deposit',
      timeUs: genesisTimeUs,
      account: first,
      subaccountIndex: 0,
      amount: quanta(BigInt(profile.vault) * 1_000_000n),
    });
    commands.push({
      kind: 'transfer',
      timeUs: genesisTimeUs,
      from: first,
      fromIndex: 0,
      to: config.clsAccount,
      toIndex: 0,
      amount: quanta(BigInt(profile.vault) * 1_000_000n),
      market: null,
      signer: first,
      nonce: 1n,
      expiresAtMs: NEVER_MS,
    });
  }
  return commands;
}

/** Beyond the range of engine time, so it means never. */
export const NEVER_MS = 9_007_199_254_741n;

function valueOf<T>(parsed: Parsed<T>): T {
  if (!parsed.ok) throw new InvariantError(`a drawn profile is valid: ${parsed.error}`);
  return parsed.value;
}

function feedIdIsGiven(): string {
  throw new InvariantError('drawn markets have a feed');
}
