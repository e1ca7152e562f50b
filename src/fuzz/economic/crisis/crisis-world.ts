/**
 * Closed world of a crisis search: three markets with honest parties, a vault and an insurance fund
 * that may be empty, and a coalition of two to four accounts. Prices jump by up to 50 %, oracles
 * have outages, makers quote around the index, arbitrageurs take mispriced quotes.
 */
import { InvariantError } from '../../../base/assert.ts';
import type { Command, PlaceOrder } from '../../../engine/commands.ts';
import type { ExchangeConfig, MarketSpec } from '../../../engine/config.ts';
import { Exchange } from '../../../engine/exchange.ts';
import { parseExchangeConfig } from '../../../gateway/exchange-config.ts';
import { parseMarketSpec } from '../../../gateway/market-config.ts';
import type { Parsed } from '../../../gateway/parsed.ts';
import {
  lots,
  marketId,
  ppm,
  priceTicks,
  quanta,
  type Address,
  type SubaccountId,
  type TimeUs,
} from '../../../num/units.ts';
import { Dice } from '../../dice.ts';
import { NEVER_MS, userAddress } from '../../run-setup.ts';
import { AccountBooks } from './account-books.ts';
import { drawPath, TICK_US, TICKS, type OraclePath, type PathShape } from './oracle-path.ts';

export const MARKETS = 3;
const WHOLE = 1_000_000n;
/** Price of one lot is one dollar: 10 Quanta per tick and lot, at 100,000 ticks. */
const START_TICKS = 100_000;
/** Number of sampling secrets per world: a plan must gain under each of them. */
export const KEYS = 4;

/** Distance from the index in ppm, and lots on each side. */
type Quote = readonly [distancePpm: number, size: number];
type BookKind = 'deep' | 'thin' | 'wide' | 'none';
const BOOKS: Readonly<Record<BookKind, readonly Quote[]>> = {
  deep: [
    [200, 200_000],
    [2000, 2_000_000],
  ],
  thin: [
    [500, 2000],
    [5000, 10_000],
  ],
  wide: [[5000, 500_000]],
  none: [],
};

export interface Member {
  readonly address: Address;
  readonly index: number;
  readonly id: SubaccountId;
  readonly name: string;
}

export interface CrisisMarket {
  readonly spec: MarketSpec;
  readonly book: BookKind;
  /** True if an arbitrageur takes mispriced quotes within a fraction of a second. */
  readonly hasArbitrageur: boolean;
  readonly path: OraclePath;
  readonly shape: PathShape;
}

/** An exchange after the opening, with the balances and positions from its events. */
export interface Opened {
  readonly config: ExchangeConfig;
  readonly opening: readonly Command[];
  readonly snapshot: Uint8Array;
  readonly books: AccountBooks;
  /** Offsets within each second at which arbitrageurs act, in µs. */
  readonly arbitrageUs: readonly number[];
}

export interface CrisisWorld {
  readonly kind: 'crisis';
  readonly seed: string;
  readonly markets: readonly CrisisMarket[];
  readonly coalition: readonly Member[];
  readonly maker: SubaccountId;
  readonly arbitrageur: SubaccountId;
  readonly vault: SubaccountId;
  readonly insurance: SubaccountId;
  /** Subaccounts of honest parties. */
  readonly honest: ReadonlySet<SubaccountId>;
  opened(key: number): Opened;
}

const MAKER = userAddress(20);
const ARBITRAGEUR = userAddress(21);
const DEPOSITOR = userAddress(22);
const bystander = (market: number, place: number): Address => userAddress(30 + market * 8 + place);

/** The same seed yields the same world. */
export function makeWorld(seed: string): CrisisWorld {
  const dice = Dice.of(seed, 'crisis world');
  const drawn = drawTerms(dice);
  const cache = new Map<number, Opened>();
  const openedAt = (key: number): Opened => {
    const found = cache.get(key) ?? open(drawn, seed, key);
    cache.set(key, found);
    return found;
  };
  const { snapshot, config } = openedAt(0);
  const engine = Exchange.restore(snapshot);
  const idOf = (address: Address, index = 0): SubaccountId => {
    const id = engine.subaccountIdOf(address, index);
    if (id === undefined) throw new InvariantError('the opening credits every account');
    return id;
  };
  const honest = drawn.deposits
    .filter(({ isMember }) => !isMember)
    .map(({ account, index }) => idOf(account, index));
  return {
    kind: 'crisis',
    seed,
    markets: drawn.markets,
    coalition: drawn.deposits
      .filter(({ isMember }) => isMember)
      .map(({ account, index, name }) => ({
        address: account,
        index,
        name,
        id: idOf(account, index),
      })),
    maker: idOf(MAKER),
    arbitrageur: idOf(ARBITRAGEUR),
    vault: idOf(config.clsAccount),
    insurance: idOf(config.insuranceAccount),
    honest: new Set(honest),
    opened: openedAt,
  };
}

interface Funds {
  readonly account: Address;
  readonly index: number;
  readonly whole: number;
  readonly isMember: boolean;
  readonly name: string;
}

/** Opening position of a bystander against the maker, at the index. */
interface Holding {
  readonly account: Address;
  readonly market: number;
  readonly size: number;
  /** Initial margin ratio of an isolated position; null for a cross position. */
  readonly isolatedPpm: number | null;
}

interface Terms {
  readonly exchange: Record<string, unknown>;
  readonly markets: readonly CrisisMarket[];
  readonly deposits: readonly Funds[];
  readonly holdings: readonly Holding[];
  /** A large honest order near the index: market and signed lots. */
  readonly block: readonly [market: number, size: number] | null;
  readonly vault: number;
  readonly insurance: number;
}

function drawTerms(dice: Dice): Terms {
  const shapes = shuffled(dice, [
    dice.pick<PathShape>(['still', 'silent', 'silentGap']),
    dice.pick<PathShape>(['silent', 'silentGap', 'drift']),
    dice.pick<PathShape>(['gap', 'drift', 'gap', 'still']),
  ]);
  const markets = shapes.map((shape, i): CrisisMarket => {
    const book = dice.pick<BookKind>(['deep', 'thin', 'wide', 'none', 'none']);
    return {
      spec: drawSpec(dice, i),
      book,
      hasArbitrageur: book === 'deep' || book === 'wide',
      path: drawPath(dice, shape, START_TICKS + dice.below(1000)),
      shape,
    };
  });
  const deposits: Funds[] = [];
  const members = dice.between(2, 4);
  for (let i = 0; i < members; i++) {
    const subaccounts = dice.chance(300) ? 2 : 1;
    for (let index = 0; index < subaccounts; index++) {
      const name = `${'ABCD'[i] ?? '?'}${index === 0 ? '' : `/${String(index)}`}`;
      const whole = dice.pick([2000, 10_000, 30_000, 60_000]);
      deposits.push({ account: userAddress(i), index, whole, isMember: true, name });
    }
  }
  const fund = (account: Address, whole: number): void => {
    deposits.push({ account, index: 0, whole, isMember: false, name: '' });
  };
  fund(MAKER, 100_000_000);
  fund(ARBITRAGEUR, 100_000_000);
  fund(DEPOSITOR, 600_000);
  const holdings: Holding[] = [];
  markets.forEach(({ spec }, market) => {
    const initialPpm = spec.tiers[0]?.initialMarginPpm ?? 20_000;
    const side = dice.chance(500) ? 1 : -1;
    const hold = (place: number, whole: number, size: number, isolatedPpm: number | null): void => {
      fund(bystander(market, place), whole);
      const account = bystander(market, place);
      holdings.push({ account, market, size, isolatedPpm });
    };
    hold(0, 100_000, 20_000, null);
    hold(1, 100_000, -20_000, null);
    hold(2, 30_000, side * 20_000, 200_000);
    // Equity slightly above the initial margin.
    const size = 100_000;
    const whole = Math.ceil((size * initialPpm * 1.1) / 1_000_000 + 100);
    hold(3, whole, (dice.chance(500) ? 1 : -1) * size, null);
  });
  const wide = markets.findIndex(({ book }) => book === 'wide');
  return {
    exchange: {
      vaultLockupMs: 1000,
      minVaultDeposit: '1',
      liquidationPauseMs: dice.pick([1000, 30_000]),
      partialLiquidationNotional: dice.pick(['10000', '100000', '100000000']),
      indexStaleMs: 60_000,
    },
    markets,
    deposits,
    holdings,
    block: wide < 0 ? null : [wide, (dice.chance(500) ? 1 : -1) * 300_000],
    vault: dice.pick([0, 0, 5000, 200_000, 500_000, 500_000]),
    insurance: dice.pick([0, 0, 2000, 50_000]),
  };
}

function drawSpec(dice: Dice, i: number): MarketSpec {
  const [initialMargin, maintenanceMargin] = dice.pick([
    ['0.02', '0.01'],
    ['0.02', '0.01'],
    ['0.05', '0.025'],
  ] as const);
  return valueOf(
    parseMarketSpec(
      {
        symbol: `${'ABC'[i] ?? '?'}-USD-PERP`,
        feedId: `0x${String(i + 1).padStart(64, '0')}`,
        tickSize: '0.1',
        lotSize: '0.0001',
        maxQuantity: '10000',
        initialMargin,
        maintenanceMargin,
        makerFee: '0.0001',
        takerFee: '0.00035',
        // Funding every minute instead of every hour; no interest, so an honest book has rate 0.
        funding: {
          sampleIntervalMs: 5000,
          intervalMs: 60_000,
          interest: '0',
          interestClamp: '0',
          divisor: 8,
        },
      },
      () => {
        throw new InvariantError('the market has a feed');
      },
    ),
  );
}

function shuffled<T>(dice: Dice, list: T[]): T[] {
  for (let i = list.length - 1; i > 0; i--) {
    const j = dice.below(i + 1);
    const a = list[i];
    const b = list[j];
    if (a !== undefined && b !== undefined) [list[i], list[j]] = [b, a];
  }
  return list;
}

function open(terms: Terms, seed: string, key: number): Opened {
  const secret = Dice.of(`${seed} ${String(key)}`, 'sampling');
  const digits = Array.from({ length: 16 }, () => secret.below(16).toString(16));
  const config = valueOf(parseExchangeConfig({ ...terms.exchange, samplingSeed: digits.join('') }));
  const engine = new Exchange(config);
  const books = new AccountBooks(terms.markets.length);
  const opening: Command[] = [];
  const now = config.genesisTimeUs;
  const apply = (command: Command): void => {
    opening.push(command);
    engine.apply(command, books.take);
  };
  for (const { spec } of terms.markets) apply({ kind: 'listMarket', timeUs: now, spec });
  const deposit = (account: Address, subaccountIndex: number, whole: number): void => {
    const amount = quanta(BigInt(whole) * WHOLE);
    if (whole > 0) apply({ kind: 'deposit', timeUs: now, account, subaccountIndex, amount });
  };
  for (const { account, index, whole } of terms.deposits) deposit(account, index, whole);
  deposit(config.insuranceAccount, 0, terms.insurance);
  terms.markets.forEach(({ path }, i) => {
    apply(setIndex(now, i, path[0] ?? START_TICKS));
  });
  if (terms.vault > 0) {
    const amount = quanta(BigInt(terms.vault) * WHOLE);
    apply({
      kind: 'transfer',
      timeUs: now,
      from: DEPOSITOR,
      fromIndex: 0,
      to: config.clsAccount,
      toIndex: 0,
      amount,
      market: null,
      signer: DEPOSITOR,
      nonce: 1n,
      expiresAtMs: NEVER_MS,
    });
  }
  const idOf = (account: Address): SubaccountId => {
    const id = engine.subaccountIdOf(account, 0);
    if (id === undefined) throw new InvariantError('the opening credits every account');
    return id;
  };
  let nonce = 1n;
  const order = (id: SubaccountId, market: number, size: number, price: number): void => {
    nonce += 1n;
    apply(newOrder(now, id, { market, size, price, nonce }));
  };
  for (const { account, market, size, isolatedPpm } of terms.holdings) {
    const id = idOf(account);
    const price = terms.markets[market]?.path[0] ?? START_TICKS;
    if (isolatedPpm !== null) {
      nonce += 1n;
      apply(isolate(now, id, { market, marginPpm: isolatedPpm, nonce }));
    }
    order(idOf(MAKER), market, -size, price);
    order(id, market, size, price);
  }
  if (terms.block !== null) {
    const [market, size] = terms.block;
    const price = terms.markets[market]?.path[0] ?? START_TICKS;
    order(idOf(MAKER), market, size, price - Math.sign(size) * Math.trunc(price / 1000));
  }
  const dice = Dice.of(`${seed} ${String(key)}`, 'arbitrage');
  const seconds = (TICKS * TICK_US) / 1_000_000;
  const arbitrageUs = Array.from({ length: seconds * 7 }, (_, i) => {
    const slot = Math.floor(1_000_000 / 7);
    return i * slot + dice.below(slot);
  });
  return { config, opening, snapshot: engine.snapshot(), books, arbitrageUs };
}

/** Quotes of the maker around an index. */
export function quotesAround(market: CrisisMarket, index: number): (readonly [number, number])[] {
  return BOOKS[market.book].flatMap(([distancePpm, size]) => {
    const distance = Math.max(1, Math.floor((index * distancePpm) / 1_000_000));
    return [
      [size, index - distance],
      [-size, index + distance],
    ] as const;
  });
}

export function setIndex(at: TimeUs, market: number, price: number): Command {
  const ticks = priceTicks(price);
  return { kind: 'setIndex', timeUs: at, market: marketId(market), priceTicks: ticks, text: '' };
}

export function isolate(
  at: TimeUs,
  subaccount: SubaccountId,
  setting: {
    readonly market: number;
    readonly marginPpm: number;
    readonly nonce: bigint;
    readonly isolated?: boolean;
  },
): Command {
  const { market, marginPpm, nonce, isolated = true } = setting;
  return {
    kind: 'updateMargin',
    timeUs: at,
    subaccount,
    market: marketId(market),
    isolated,
    marginPpm: ppm(marginPpm),
    nonce,
    expiresAtMs: NEVER_MS,
    delegate: null,
  };
}

export function newOrder(
  at: TimeUs,
  subaccount: SubaccountId,
  order: {
    readonly market: number;
    readonly size: number;
    readonly price: number;
    readonly nonce: bigint;
    readonly ioc?: boolean;
    readonly reduceOnly?: boolean;
  },
): PlaceOrder {
  const { market, size, price, nonce, ioc = false, reduceOnly = false } = order;
  return {
    kind: 'placeOrder',
    timeUs: at,
    subaccount,
    market: marketId(market),
    orderType: 'limit',
    lots: lots(size),
    priceTicks: priceTicks(Math.max(1, price)),
    ioc,
    postOnly: false,
    reduceOnly,
    nonce,
    expiresAtMs: NEVER_MS,
    delegate: null,
    clientId: null,
    originator: null,
    originatorFeePpm: ppm(0),
  };
}

function valueOf<T>(parsed: Parsed<T>): T {
  if (!parsed.ok) throw new InvariantError(`a world is valid: ${parsed.error}`);
  return parsed.value;
}
