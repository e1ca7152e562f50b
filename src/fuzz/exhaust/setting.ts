/**
 * The exchange of every world: three users, two markets, and an opening after which one step can
 * trade, trigger, fund, liquidate or bankrupt.
 *
 * Ann is long ten lots of X with little collateral, Bob is short against her. Bob is also long five
 * lots of Y with isolated margin, Cat is short against him. Cat quotes X and holds vault shares.
 */
import { InvariantError, must } from '../../base/assert.ts';
import type { Command, PlaceOrder } from '../../engine/commands.ts';
import type { ExchangeConfig, MarketSpec } from '../../engine/config.ts';
import { parseExchangeConfig } from '../../gateway/exchange-config.ts';
import { parseMarketSpec } from '../../gateway/market-config.ts';
import type { Parsed } from '../../gateway/parsed.ts';
import {
  lots,
  marketId,
  ppm,
  priceTicks,
  quanta,
  subaccountId,
  timeUs,
  type Address,
  type SubaccountId,
} from '../../num/units.ts';
import { NEVER_MS, userAddress } from '../run-setup.ts';

export const X = marketId(0);
export const Y = marketId(1);
/** A market of prepared worlds only. */
export const Z = marketId(2);
/** Listed in a world of its own, in the place of Z. */
export const W = marketId(2);

export interface User {
  readonly address: Address;
  /** Of subaccount 0. */
  readonly id: SubaccountId;
}

/** Subaccounts 0 to 5 are those of the exchange. */
const user = (i: number): User => ({ address: userAddress(i), id: subaccountId(6 + i) });

export const ANN = user(0);
export const BOB = user(1);
export const CAT = user(2);
/** A user of prepared worlds only. */
export const DAN = user(3);

/** One second before 00:00 UTC, so that a step may cross a candle, an hour and a day. */
const GENESIS_US = timeUs(1_704_153_599_000_000);

export const CONFIG: ExchangeConfig = valueOf(
  parseExchangeConfig(
    {
      name: 'Exhaust',
      // Soon: a frozen market has no timers, so an hour of waiting is cheap.
      indexStaleMs: 3000,
      samplingSeed: '0123456789abcdef',
      partialLiquidationNotional: '6000',
      liquidationSlice: '0.4',
      liquidationPauseMs: 1500,
      vaultLockupMs: 1500,
      termsNoticeMs: 1500,
      insuranceHourly: '0.5',
      retention: {
        tradesPerMarket: 100,
        candleMinutesPerMarket: 500,
        endedOrdersPerAccount: 1000,
        transfersPerSubaccount: 100,
        vaultSnapshotsPerHolder: 100,
      },
    },
    GENESIS_US,
  ),
);

/** The same without history, which decides no command and is not part of the state hash. */
export const CONFIG_WITHOUT_HISTORY: ExchangeConfig = {
  ...CONFIG,
  retention: {
    tradesPerMarket: 0,
    candleMinutesPerMarket: 0,
    endedOrdersPerAccount: 0,
    transfersPerSubaccount: 0,
    vaultSnapshotsPerHolder: 0,
  },
};

/** Funding is settled every two seconds, so that two steps of a second reach it. */
const FUNDING = { sampleIntervalMs: 1000, intervalMs: 2000, impactNotional: '2000' };

export const SPEC_X: MarketSpec = valueOf(
  parseMarketSpec(
    {
      symbol: 'X',
      feedId: `0x${'11'.repeat(32)}`,
      tickSize: '1',
      lotSize: '1',
      maxQuantity: '40',
      maxOpenOrders: 6,
      maxOpenInterest: '24',
      marginTiers: [
        { notionalFloor: '0', initialMargin: '0.1', maintenanceMargin: '0.05' },
        { notionalFloor: '12000', initialMargin: '0.2', maintenanceMargin: '0.1' },
      ],
      makerFee: '-0.0001',
      takerFee: '0.0005',
      funding: FUNDING,
    },
    noFeed,
  ),
);

export const SPEC_Y: MarketSpec = valueOf(
  parseMarketSpec(
    {
      symbol: 'Y',
      feedId: `0x${'22'.repeat(32)}`,
      tickSize: '1',
      lotSize: '1',
      initialMargin: '0.2',
      maintenanceMargin: '0.1',
      markSource: 'index',
      funding: FUNDING,
    },
    noFeed,
  ),
);

/** Its highest price is close to its index. */
export const SPEC_Z: MarketSpec = valueOf(
  parseMarketSpec(
    {
      symbol: 'Z',
      feedId: `0x${'33'.repeat(32)}`,
      tickSize: '1',
      lotSize: '1',
      maxPrice: '1000',
      initialMargin: '0.1',
      maintenanceMargin: '0.05',
      markSource: 'index',
      funding: FUNDING,
    },
    noFeed,
  ),
);

/** Its index is the middle of its book, which is never stale: its quotes may stand for minutes. */
export const SPEC_W: MarketSpec = valueOf(
  parseMarketSpec(
    {
      symbol: 'W',
      feedId: `0x${'44'.repeat(32)}`,
      tickSize: '1',
      lotSize: '1',
      initialMargin: '0.1',
      maintenanceMargin: '0.05',
      indexSource: 'mid',
      recordedLiquidity: true,
      // Longer than a step of the exploration, which would take hundreds of samples else.
      funding: { sampleIntervalMs: 60_000, intervalMs: 120_000, impactNotional: '6000' },
    },
    noFeed,
  ),
);

/** Prices of the opening. */
const MARK_X = 1000;
const MARK_Y = 500;

/** Commands before the first step of every world; `preparations.ts` has those after them. */
export const OPENING: readonly Command[] = opening();

function opening(): Command[] {
  const at = GENESIS_US;
  const deposit = (account: Address, whole: bigint): Command => ({
    kind: 'deposit',
    timeUs: at,
    account,
    subaccountIndex: 0,
    amount: quanta(whole * 1_000_000n),
  });
  const price = (market: typeof X, ticks: number): Command => ({
    kind: 'setIndex',
    timeUs: at,
    market,
    priceTicks: priceTicks(ticks),
    text: String(ticks),
  });
  let nonce = 0n;
  const order = (owner: User, market: typeof X, size: number, ticks: number): PlaceOrder => ({
    kind: 'placeOrder',
    timeUs: at,
    subaccount: owner.id,
    market,
    orderType: 'limit',
    lots: lots(size),
    priceTicks: priceTicks(ticks),
    ioc: false,
    postOnly: false,
    reduceOnly: false,
    nonce: nonce++,
    expiresAtMs: NEVER_MS,
    delegate: null,
    clientId: null,
    originator: null,
    originatorFeePpm: ppm(0),
  });
  return [
    { kind: 'listMarket', timeUs: at, spec: SPEC_X },
    { kind: 'listMarket', timeUs: at, spec: SPEC_Y },
    deposit(ANN.address, 1400n),
    deposit(BOB.address, 2600n),
    deposit(CAT.address, 30_000n),
    deposit(CONFIG.insuranceAccount, 300n),
    price(X, MARK_X),
    price(Y, MARK_Y),
    {
      kind: 'updateMargin',
      timeUs: at,
      subaccount: BOB.id,
      market: Y,
      isolated: true,
      marginPpm: ppm(250_000),
      nonce: 0n,
      expiresAtMs: NEVER_MS,
      delegate: null,
    },
    order(ANN, X, 10, MARK_X),
    order(BOB, X, -10, MARK_X),
    order(CAT, Y, -5, MARK_Y),
    order(BOB, Y, 5, MARK_Y),
    order(CAT, X, 4, MARK_X - 5),
    order(CAT, X, 4, MARK_X - 40),
    order(CAT, X, -4, MARK_X + 5),
    order(CAT, X, -4, MARK_X + 40),
    {
      kind: 'transfer',
      timeUs: at,
      from: CAT.address,
      fromIndex: 0,
      to: CONFIG.clsAccount,
      toIndex: 0,
      amount: quanta(1_000_000_000n),
      market: null,
      signer: CAT.address,
      nonce: 0n,
      expiresAtMs: NEVER_MS,
    },
  ];
}

function valueOf<T>(parsed: Parsed<T>): T {
  if (!parsed.ok) throw new InvariantError(`the setting is valid: ${parsed.error}`);
  return parsed.value;
}

function noFeed(): string {
  return must<string>(undefined, 'the markets of the setting have a feed');
}
