/**
 * Operations of the worlds. An operation is a function of the state: it yields one command, or null
 * where it does not apply. Time advances only by the operations of time, so other operations that
 * commute lead to equal states.
 */
import type { Command, NewOrder, PlaceOrder, Transfer } from '../../engine/commands.ts';
import type { MarketSpec, MarketStatus } from '../../engine/config.ts';
import {
  accountId,
  lots,
  orderId,
  ppm,
  priceTicks,
  quanta,
  timeUs,
  type Address,
  type MarketId,
  type OrderId,
} from '../../num/units.ts';
import { NEVER_MS } from '../run-setup.ts';
import type { ExploredExchange } from './explored-exchange.ts';
import {
  ANN,
  BOB,
  CAT,
  CONFIG,
  DAN,
  SPEC_W,
  SPEC_X,
  SPEC_Z,
  W,
  X,
  Y,
  Z,
  type User,
} from './setting.ts';

export type Operation = (exchange: ExploredExchange) => Command | null;

const SECOND_US = 1_000_000;
const MINUTE_US = 60 * SECOND_US;
const HOUR_US = 60 * MINUTE_US;
const DAY_US = 24 * HOUR_US;
const USD = 1_000_000n;

/** Accounts 0 to 5 are those of the exchange. */
const CAT_ACCOUNT = accountId(8);

/** Terms that differ from a limit order of X that rests until cancelled. */
type Terms = Partial<Omit<PlaceOrder, 'kind' | 'timeUs' | 'subaccount' | 'orderType'>>;

/** Commands differ only in time and nonce; one literal gives all the same hidden class. */
const limit =
  (owner: User, size: number, ticks: number, terms: Terms = {}): Operation =>
  (exchange) => ({
    kind: 'placeOrder',
    timeUs: exchange.nowUs,
    subaccount: owner.id,
    market: terms.market ?? X,
    orderType: 'limit',
    lots: lots(size),
    priceTicks: priceTicks(ticks),
    ioc: terms.ioc ?? false,
    postOnly: terms.postOnly ?? false,
    reduceOnly: terms.reduceOnly ?? false,
    nonce: terms.nonce ?? exchange.nextOrderNonce(owner.id),
    expiresAtMs: terms.expiresAtMs ?? NEVER_MS,
    delegate: terms.delegate ?? null,
    clientId: terms.clientId ?? null,
    originator: terms.originator ?? null,
    originatorFeePpm: terms.originatorFeePpm ?? ppm(0),
  });

/** An order of a group; its nonce follows from its place. */
type Member = Partial<NewOrder> & Pick<NewOrder, 'lots'>;

const memberOf = (member: Member, nonce: bigint): NewOrder => ({
  market: member.market ?? X,
  orderType: member.orderType ?? 'limit',
  lots: member.lots,
  priceTicks: member.priceTicks ?? priceTicks(1),
  ioc: member.ioc ?? false,
  postOnly: false,
  reduceOnly: member.reduceOnly ?? false,
  nonce,
  expiresAtMs: NEVER_MS,
  clientId: null,
  originator: null,
  originatorFeePpm: ppm(0),
  triggerTicks: member.triggerTicks ?? null,
  trailingPpm: member.trailingPpm ?? null,
  periodMs: member.periodMs ?? null,
  parent: member.parent ?? null,
  attached: member.attached ?? false,
});

const group =
  (owner: User, members: readonly Member[]): Operation =>
  (exchange) => {
    const first = exchange.nextOrderNonce(owner.id);
    return {
      kind: 'placeOrders',
      timeUs: exchange.nowUs,
      subaccount: owner.id,
      delegate: null,
      orders: members.map((member, i) =>
        memberOf(member, member.attached === true ? first : first + BigInt(i)),
      ),
    };
  };

/** A take-profit or stop-loss, at any price within the band. */
const leg = (orderType: 'takeProfit' | 'stopLoss', size: number, trigger: number): Member => ({
  orderType,
  lots: lots(size),
  priceTicks: priceTicks(size > 0 ? trigger * 2 : 1),
  triggerTicks: priceTicks(trigger),
  ioc: true,
  reduceOnly: true,
});

/** The same pair below a live order of Cat in X. */
const protectOldest: Operation = (exchange) => {
  const parent: OrderId | null = exchange.oldestOrder(CAT.id, X);
  if (parent === null) return null;
  const size = -(exchange.order(parent)?.lots ?? 0);
  const away = size > 0 ? 1 : -1;
  return group(CAT, [
    { ...leg('takeProfit', size, 1000 - away * 60), parent },
    { ...leg('stopLoss', size, 1000 + away * 60), parent },
  ])(exchange);
};

const cancelOldest =
  (owner: User): Operation =>
  (exchange) => {
    const id = exchange.oldestOrder(owner.id);
    return id === null
      ? null
      : { kind: 'cancelOrder', timeUs: exchange.nowUs, orderId: orderId(id) };
  };

const cancelAll =
  (owner: User, market: MarketId | null): Operation =>
  ({ nowUs }) => ({ kind: 'cancelAll', timeUs: nowUs, subaccount: owner.id, market });

const index =
  (market: MarketId, ticks: number): Operation =>
  ({ nowUs }) => ({
    kind: 'setIndex',
    timeUs: nowUs,
    market,
    priceTicks: priceTicks(ticks),
    text: String(ticks),
  });

const wait =
  (us: number): Operation =>
  ({ nowUs }) => ({ kind: 'advanceTime', timeUs: timeUs(nowUs + us) });

/** The recorded book of W: prices, and lots by side. */
const book =
  (...levels: readonly (readonly [price: number, size: number])[]): Operation =>
  ({ nowUs }) => ({
    kind: 'tapeSnapshot',
    timeUs: nowUs,
    market: W,
    levels: levels.map(([price, size]) => ({
      side: size > 0 ? 'bid' : 'ask',
      priceTicks: priceTicks(price),
      lots: lots(Math.abs(size)),
    })),
  });

/** To the start of the next hour. */
const nextHour: Operation = ({ nowUs }) => ({
  kind: 'advanceTime',
  timeUs: timeUs((Math.floor(nowUs / HOUR_US) + 1) * HOUR_US),
});

const deposit =
  (account: Address, whole: bigint): Operation =>
  ({ nowUs }) => ({
    kind: 'deposit',
    timeUs: nowUs,
    account,
    subaccountIndex: 0,
    amount: quanta(whole * USD),
  });

/** All that may leave; one quantum where nothing may. */
const withdrawAll =
  (owner: User): Operation =>
  (exchange) => {
    const most = exchange.margin(owner.id).withdrawableQuanta;
    return {
      kind: 'withdraw',
      timeUs: exchange.nowUs,
      account: owner.address,
      subaccountIndex: 0,
      amount: most > 0n ? most : quanta(1n),
    };
  };

type Move = Pick<Transfer, 'from' | 'to' | 'amount' | 'signer'> & Partial<Transfer>;

const transfer =
  (move: (exchange: ExploredExchange) => Move): Operation =>
  (exchange) => {
    const fields = move(exchange);
    return {
      kind: 'transfer',
      timeUs: exchange.nowUs,
      fromIndex: 0,
      toIndex: 0,
      market: null,
      nonce: exchange.nextNonce(fields.signer),
      expiresAtMs: NEVER_MS,
      ...fields,
    };
  };

const margin =
  (owner: User, market: MarketId, isolated: boolean, rate: number): Operation =>
  (exchange) => ({
    kind: 'updateMargin',
    timeUs: exchange.nowUs,
    subaccount: owner.id,
    market,
    isolated,
    marginPpm: ppm(rate),
    nonce: exchange.nextNonce(owner.address),
    expiresAtMs: NEVER_MS,
    delegate: null,
  });

const delegation =
  (delegated: boolean): Operation =>
  (exchange) => ({
    kind: 'updateDelegate',
    timeUs: exchange.nowUs,
    account: ANN.address,
    subaccountIndex: 0,
    delegate: CAT.address,
    delegated,
    nonce: exchange.nextNonce(ANN.address),
    expiresAtMs: NEVER_MS,
  });

/** A restriction, or its end where there is one. */
const restrict =
  (market: MarketId, status: Exclude<MarketStatus, 'delisted'>): Operation =>
  (exchange) => ({
    kind: 'setMarketStatus',
    timeUs: exchange.nowUs,
    market,
    status: exchange.market(market).status === status ? 'open' : status,
  });

/** Changed terms of X; one record, so that it is hashed once. */
const terms = (change: Partial<MarketSpec>): Operation => {
  const spec = { ...SPEC_X, ...change };
  return ({ nowUs }) => ({ kind: 'setMarketTerms', timeUs: nowUs, market: X, spec });
};

/** All operations, by name. */
export const OPERATIONS = {
  annBids: limit(ANN, 2, 990),
  annAsks: limit(ANN, -2, 1010),
  annBuys: limit(ANN, 2, 1005),
  annSweeps: limit(ANN, -30, 1, { ioc: true }),
  annReduces: limit(ANN, -14, 1004, { reduceOnly: true }),
  annExpires: limit(ANN, 1, 985, { expiresAtMs: 1_704_153_600_500n }),
  annNames: limit(ANN, 1, 980, { clientId: 'one' }),
  annRepeats: (exchange) =>
    limit(ANN, 1, 970, { nonce: exchange.nextOrderNonce(ANN.id) - 1n })(exchange),
  annTriggers: group(ANN, [
    {
      orderType: 'stopLoss',
      lots: lots(2),
      priceTicks: priceTicks(1060),
      triggerTicks: priceTicks(1020),
    },
  ]),
  annBrackets: group(ANN, [
    { lots: lots(2), priceTicks: priceTicks(1005) },
    { ...leg('takeProfit', -2, 1030), attached: true },
    { ...leg('stopLoss', -2, 970), attached: true },
  ]),
  /** Legs that rest once they fire, behind an order that fills part by part. */
  annHangs: group(ANN, [
    { lots: lots(4), priceTicks: priceTicks(990) },
    {
      ...leg('takeProfit', -4, 1020),
      priceTicks: priceTicks(1040),
      ioc: false,
      attached: true,
    },
    { ...leg('stopLoss', -4, 980), priceTicks: priceTicks(985), ioc: false, attached: true },
  ]),
  annProtects: group(ANN, [leg('takeProfit', -10, 1030), leg('stopLoss', -10, 970)]),
  annTrails: group(ANN, [
    {
      ...leg('stopLoss', -4, 1),
      orderType: 'trailingStop',
      triggerTicks: null,
      trailingPpm: 20_000,
    },
  ]),
  annCancels: cancelOldest(ANN),
  bobBuys: limit(BOB, 6, 1040, { ioc: true }),
  bobSells: limit(BOB, -6, 960, { ioc: true }),
  bobBuysY: limit(BOB, 3, 505, { market: Y }),
  bobSellsY: limit(BOB, -8, 495, { market: Y }),
  bobSlices: group(
    BOB,
    [0, 1, 2].map(() => ({
      orderType: 'twap',
      lots: lots(-1),
      priceTicks: priceTicks(995),
      periodMs: 1000n,
    })),
  ),
  bobHits: limit(BOB, -2, 990, { ioc: true }),
  bobCancelsAll: cancelAll(BOB, null),
  catPosts: limit(CAT, 3, 1002, { postOnly: true }),
  catIcebergs: group(
    CAT,
    [-2, -2, -1].map((size) => ({
      orderType: 'iceberg',
      lots: lots(size),
      priceTicks: priceTicks(1003),
    })),
  ),
  catBatches: group(CAT, [
    { market: Y, lots: lots(6), priceTicks: priceTicks(495) },
    { market: Y, lots: lots(-6), priceTicks: priceTicks(505) },
  ]),
  catProtects: protectOldest,
  catCancelsX: cancelAll(CAT, X),
  catActsForAnn: limit(ANN, -3, 996, {
    delegate: CAT_ACCOUNT,
    originator: BOB.address,
    originatorFeePpm: ppm(90),
    nonce: 1_000_000n,
  }),
  xRises: index(X, 1030),
  xFalls: index(X, 970),
  xReturns: index(X, 1000),
  xDrops: index(X, 900),
  xCrashes: index(X, 840),
  xSoars: index(X, 1400),
  yFalls: index(Y, 440),
  yCrashes: index(Y, 370),
  ySoars: index(Y, 900),
  second: wait(SECOND_US),
  pause: wait(1.5 * SECOND_US),
  /** Freezes both markets. */
  stale: wait(4 * SECOND_US),
  minutes: wait(149 * SECOND_US),
  longer: wait(153 * SECOND_US),
  hour: nextHour,
  annDeposits: deposit(ANN.address, 200n),
  annDepositsMore: deposit(ANN.address, 2000n),
  annWithdraws: withdrawAll(ANN),
  catWithdraws: withdrawAll(CAT),
  insured: deposit(CONFIG.insuranceAccount, 100n),
  annPaysBob: transfer(() => ({
    from: ANN.address,
    to: BOB.address,
    toIndex: 1,
    amount: quanta(100n * USD),
    signer: ANN.address,
  })),
  bobJoinsVault: transfer(() => ({
    from: BOB.address,
    to: CONFIG.clsAccount,
    amount: quanta(77n * USD),
    signer: BOB.address,
  })),
  catLeavesVault: transfer(() => ({
    from: CONFIG.clsAccount,
    to: CAT.address,
    amount: quanta(333n * USD),
    signer: CAT.address,
  })),
  catTakesBobs: transfer(() => ({
    from: BOB.address,
    to: CAT.address,
    amount: quanta(USD),
    signer: CAT.address,
  })),
  bobTakesExcess: transfer((exchange) => {
    const excess = exchange.isolatedExcess(BOB.id, Y);
    return {
      from: BOB.address,
      to: BOB.address,
      amount: excess > 0n ? excess : quanta(1n),
      market: Y,
      signer: BOB.address,
    };
  }),
  bobAddsMargin: margin(BOB, Y, true, 500_000),
  bobCutsMargin: margin(BOB, Y, true, 200_000),
  annOwnMargin: margin(ANN, X, false, 125_000),
  catIsolatesX: margin(CAT, X, true, 200_000),
  annGrants: delegation(true),
  annRevokes: delegation(false),
  annSigners: (exchange) => ({
    kind: 'updateSigners',
    timeUs: exchange.nowUs,
    account: ANN.address,
    signers: [ANN.address, BOB.address],
    quorum: 2,
    nonce: exchange.nextNonce(ANN.address),
    expiresAtMs: NEVER_MS,
  }),
  annEndsBoth: ({ nowUs }) => ({
    kind: 'setSelfTradeMode',
    timeUs: nowUs,
    account: ANN.address,
    mode: 2,
  }),
  xReduceOnly: restrict(X, 'reduceOnly'),
  xHalts: restrict(X, 'halted'),
  xTightens: terms({
    tiers: SPEC_X.tiers.map((tier) => ({
      ...tier,
      initialMarginPpm: ppm(tier.initialMarginPpm + 40_000),
      maintenanceMarginPpm: ppm(tier.maintenanceMarginPpm + 40_000),
    })),
  }),
  xOpenFees: terms({ takerFeePpm: ppm(1000), openNotionalUpper: quanta(40_000n * USD) }),
  /** Of prepared worlds. */
  annQuotes: limit(ANN, -16, 1010),
  annDumps: limit(ANN, -4, 805, { reduceOnly: true }),
  bobBuysLess: limit(BOB, 3, 1040, { ioc: true }),
  catOffers: limit(CAT, -3, 998),
  catFeedsVault: transfer(() => ({
    from: CAT.address,
    to: CONFIG.clsAccount,
    amount: quanta(2000n * USD),
    signer: CAT.address,
  })),
  bobClosesY: limit(BOB, -3, 515, { market: Y, reduceOnly: true }),
  bobSellsSomeY: limit(BOB, -3, 515, { market: Y }),
  catClosesY: limit(CAT, 4, 525, { market: Y, reduceOnly: true }),
  catBuysY: limit(CAT, 2, 525, { market: Y }),
  catSellsY: limit(CAT, -2, 500, { market: Y }),
  catBuysZ: limit(CAT, 2, 992, { market: Z }),
  catSellsZ: limit(CAT, -2, 990, { market: Z }),
  catSellsMoreZ: limit(CAT, -5, 900, { market: Z }),
  catBids: limit(CAT, 2, 991),
  catQuotesBoth: group(CAT, [
    { lots: lots(14), priceTicks: priceTicks(996) },
    { lots: lots(-14), priceTicks: priceTicks(1004) },
  ]),
  wQuotes: book([996, 4], [994, 4], [1004, -4], [1100, -9]),
  wDeepens: book([996, 9], [994, 4], [1004, -4], [1024, -9]),
  wTrades: ({ nowUs }) => ({
    kind: 'tapeTrade',
    timeUs: nowUs,
    market: W,
    priceTicks: priceTicks(1100),
    lots: lots(1),
  }),
  danRestsW: limit(DAN, 1, 950, { market: W }),
  catBidsW: limit(CAT, 2, 998, { market: W }),
  danBuysW: limit(DAN, 1, 1030, { market: W, ioc: true }),
  danSellsW: limit(DAN, -2, 990, { market: W, ioc: true }),
  danIsolates: margin(DAN, X, true, 100_000),
  danBuysMoreX: limit(DAN, 7, 1010, { ioc: true }),
  danTurnsX: limit(DAN, -14, 990, { ioc: true }),
  danSellsMoreX: limit(DAN, -6, 990, { ioc: true }),
  danBuysX: limit(DAN, 2, 1005),
  danBuysY: limit(DAN, 2, 500, { market: Y }),
  danBuysZ: limit(DAN, 2, 990, { market: Z }),
  danBuysMoreZ: limit(DAN, 5, 900, { market: Z }),
  danSellsX: limit(DAN, -1, 995, { reduceOnly: true }),
  danSellsY: limit(DAN, -1, 495, { market: Y, reduceOnly: true }),
  danWithdraws: withdrawAll(DAN),
  danDeposits: deposit(DAN.address, 200n),
  danDepositsMore: deposit(DAN.address, 1000n),
  yRecovers: index(Y, 520),
  yGains: index(Y, 600),
  yHalts: restrict(Y, 'halted'),
  xSags: index(X, 944),
  xSinks: index(X, 905),
  xGains: index(X, 1100),
  zLists: ({ nowUs }) => ({ kind: 'listMarket', timeUs: nowUs, spec: SPEC_Z }),
  zStarts: index(Z, 900),
  wLists: ({ nowUs }) => ({ kind: 'listMarket', timeUs: nowUs, spec: SPEC_W }),
  zReturns: index(Z, 990),
  zTops: index(Z, 1000),
  zSinks: index(Z, 936),
  zCrashes: index(Z, 600),
  zHalts: restrict(Z, 'halted'),
  wHalts: restrict(W, 'halted'),
  wReduceOnly: restrict(W, 'reduceOnly'),
  /** To a notice before the next midnight. */
  evening: ({ nowUs }) => ({
    kind: 'advanceTime',
    timeUs: timeUs((Math.floor(nowUs / DAY_US) + 2) * DAY_US - 1.5 * SECOND_US),
  }),
  yDelists: ({ nowUs }) => ({ kind: 'delistMarket', timeUs: nowUs, market: Y, priceTicks: null }),
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof OPERATIONS;
