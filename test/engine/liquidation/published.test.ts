/**
 * Published figures of other exchanges, reproduced by this engine through configuration: rates,
 * tiers and intervals are parameters. There are two kinds of cases.
 *
 * Printed: figures printed in the source (Binance's brackets with their maintenance amounts, dYdX
 * v4's bankruptcy tests, dYdX's worked deleveraging and maintenance, the donation attack). By
 * formula: a published rule applied to numbers chosen here (liquidation prices, funding rates and
 * payments), which shows that the rule is the same, not that a venue printed the number.
 *
 * Liquidation here happens below maintenance (equality is safe) on whole ticks, so a published
 * price p appears as the first tick beyond it.
 */
import { describe, expect, test } from 'vitest';
import { bankruptcyTicks, equityShare } from '../../../src/engine/liquidation/bankruptcy.ts';
import { fundingPayment, fundingRate } from '../../../src/engine/funding/funding.ts';
import { RiskUnit } from '../../../src/engine/margin/risk-unit.ts';
import { rateRise, requirement, risenRequirement } from '../../../src/engine/margin/requirement.ts';
import { parseMarketSpec } from '../../../src/gateway/market-config.ts';
import { ppb, ppm, priceTicks, quanta } from '../../../src/num/units.ts';
import { keccak } from '../../../src/wallet/crypto-ports.ts';
import { RiskWorld, dollars, usd } from '../risk-world.ts';

/**
 * Notional cap, maintenance rate, maintenance amount (the rate's overstatement), in Binance's
 * notation.
 */
type Bracket = readonly [cap: number, rate: string, amount: string];

const BINANCE_BTC: readonly Bracket[] = [
  [50_000, '0.004', '0'],
  [250_000, '0.005', '50'],
  [1_000_000, '0.01', '1300'],
  [10_000_000, '0.025', '16300'],
  [20_000_000, '0.05', '266300'],
  [50_000_000, '0.1', '1266300'],
  [100_000_000, '0.125', '2516300'],
  [200_000_000, '0.15', '5016300'],
  [300_000_000, '0.25', '25016300'],
  [500_000_000, '0.5', '100016300'],
];
const BINANCE_ETH: readonly Bracket[] = [
  [10_000, '0.005', '0'],
  [100_000, '0.0065', '15'],
  [500_000, '0.01', '365'],
  [1_000_000, '0.02', '5365'],
  [2_000_000, '0.05', '35365'],
  [5_000_000, '0.1', '135365'],
  [10_000_000, '0.125', '260365'],
  [20_000_000, '0.15', '510365'],
  [500_000_000, '0.25', '2510365'],
];
const BINANCE_ALT: readonly Bracket[] = [
  [10_000, '0.0065', '0'],
  [50_000, '0.01', '35'],
  [250_000, '0.02', '535'],
  [1_000_000, '0.05', '8035'],
  [2_000_000, '0.1', '58035'],
  [5_000_000, '0.125', '108035'],
  [10_000_000, '0.15', '233035'],
  [500_000_000, '0.25', '1233035'],
];

function tiersOf(brackets: readonly Bracket[]): Record<string, string>[] {
  return brackets.map(([, rate], i) => ({
    notionalFloor: String(i === 0 ? 0 : brackets[i - 1]![0]),
    initialMargin: rate,
    maintenanceMargin: rate,
  }));
}

function specOf(market: Record<string, unknown>) {
  const spec = parseMarketSpec(
    { symbol: 'M', tickSize: '0.01', lotSize: '0.001', ...market },
    keccak,
  );
  if (!spec.ok) throw new Error(spec.error);
  return spec.value;
}

describe('tiered maintenance: notional × rate − amount, at the middle and at the end of every bracket', () => {
  // Binance FAQ "How to Calculate Liquidation Price of USDⓈ-M Futures Contracts" (maintenance amount = floor × rate difference +
  // amount before; 1,300 USDT for BTCUSDT between 250,000 and 1,000,000) with the brackets of 2021 for BTCUSDT, ETHUSDT and the 75x coins.
  for (const [name, brackets] of [
    ['BTCUSDT', BINANCE_BTC],
    ['ETHUSDT', BINANCE_ETH],
    ['75x', BINANCE_ALT],
  ] as const) {
    const { tiers } = specOf({ marginTiers: tiersOf(brackets) });
    test.each(brackets.map(([cap, rate, amount], i) => [cap, rate, amount, i] as const))(
      `Binance ${name}, up to %d: %s − %s`,
      (cap, rate, amount, i) => {
        const floor = i === 0 ? 0 : brackets[i - 1]![0];
        const parts = BigInt(Math.round(Number(rate) * 1e6));
        for (const value of [(floor + cap) / 2, cap]) {
          const published = BigInt(value) * parts - BigInt(amount) * 1_000_000n;
          expect(requirement(usd(String(value)), tiers, 'maintenanceMarginPpm')).toBe(published);
        }
      },
    );
  }

  test('Binance FAQ: a position of 500,000 USDT in BTCUSDT has a maintenance margin of 3,700', () => {
    const { tiers } = specOf({ marginTiers: tiersOf(BINANCE_BTC) });
    expect(requirement(usd('500000'), tiers, 'maintenanceMarginPpm')).toBe(usd('3700'));
  });
});

/** A position at a price, with the remaining money as in the source. */
interface LiquidationCase {
  readonly source: string;
  readonly maintenance: string;
  readonly collateral: string;
  readonly size: string;
  readonly entry: string;
  /** Published to this many decimals; null if there is none. */
  readonly price: string | null;
}

/**
 * By formula. Hyperliquid, "Liquidations": price − side × margin_available ÷ size ÷ (1 − l × side), l the maintenance rate. dYdX, "Isolated Liquidation
 * Price": (e − s × p) ÷ (|s| × MMF − s). Both are the same mark-based rule.
 */
const LIQUIDATIONS: readonly LiquidationCase[] = [
  {
    source: 'dYdX, the positions of its example: 1,000 USD short 3 ETH at 3,000, MMF 5 %',
    maintenance: '0.05',
    collateral: '1000',
    size: '-3',
    entry: '3000',
    price: '3174.60',
  },
  {
    source: 'dYdX: the same long',
    maintenance: '0.05',
    collateral: '1000',
    size: '3',
    entry: '3000',
    price: '2807.02',
  },
  {
    source: 'Hyperliquid: 10x long of 1 BTC at 60,000, maintenance 1 % (50x market)',
    maintenance: '0.01',
    collateral: '6000',
    size: '1',
    entry: '60000',
    price: '54545.45',
  },
  {
    source: 'Hyperliquid: 10x short of 1 BTC at 60,000, maintenance 1 %',
    maintenance: '0.01',
    collateral: '6000',
    size: '-1',
    entry: '60000',
    price: '65346.53',
  },
  {
    source: 'Hyperliquid: 3x long in a 3x market (maintenance 16.7 %)',
    maintenance: '0.166667',
    collateral: '1000',
    size: '30',
    entry: '100',
    price: '80.00',
  },
  {
    source: 'Binance formula: 10x long of 0.1 BTC at 60,000, rate 0.4 %',
    maintenance: '0.004',
    collateral: '600',
    size: '0.1',
    entry: '60000',
    price: '54216.87',
  },
  {
    source: 'Binance formula: 10x short of 0.1 BTC at 60,000, rate 0.4 %',
    maintenance: '0.004',
    collateral: '600',
    size: '-0.1',
    entry: '60000',
    price: '65737.05',
  },
  {
    source: 'any venue: a long whose collateral exceeds its notional has none',
    maintenance: '0.05',
    collateral: '4000',
    size: '1',
    entry: '3000',
    price: null,
  },
];

describe('liquidation prices', () => {
  test.each(LIQUIDATIONS)('$source → $price', (row) => {
    const world = new RiskWorld([
      { tickSize: '0.01', initialMargin: row.maintenance, maintenanceMargin: row.maintenance },
    ]);
    world.fund({ ann: row.collateral, bob: '100000000' });
    world.price(row.entry);
    world.trade('ann', 'bob', row.size, row.entry);
    const { liquidationPrice } = world.position('ann')!;
    if (row.price === null || liquidationPrice === null) {
      expect(liquidationPrice).toBe(row.price);
      return;
    }
    // The first tick beyond the published price.
    expect(Math.abs(Number(liquidationPrice) - Number(row.price))).toBeLessThan(0.0151);
    const size = Number(row.size);
    const step = size > 0 ? 0.01 : -0.01;
    world.price((Number(liquidationPrice) + step).toFixed(2));
    expect(world.steps()).toEqual([]);
    world.price(liquidationPrice);
    expect(world.steps()[0]).toMatch(/^ann /);
  });

  // By formula: positions of the FAQ's example from memory; both prices follow from its formula.
  test('Binance formula, cross margin with BTCUSDT and ETHUSDT: 26,316.89 and 1,153.26', () => {
    const world = new RiskWorld([
      { symbol: 'BTCUSDT', tickSize: '0.01', marginTiers: tiersOf(BINANCE_BTC) },
      { symbol: 'ETHUSDT', tickSize: '0.01', marginTiers: tiersOf(BINANCE_ETH) },
    ]);
    world.fund({ ann: '1535443.01', bob: '1000000000' });
    world.price('32481.98', 'BTCUSDT');
    world.price('1456.84', 'ETHUSDT');
    world.trade('ann', 'bob', '109.488', '32481.98', 'BTCUSDT');
    world.trade('ann', 'bob', '3683.979', '1456.84', 'ETHUSDT');
    world.price('31967.27', 'BTCUSDT');
    world.price('1335.18', 'ETHUSDT');
    expect(world.position('ann', 'BTCUSDT')).toMatchObject({
      upnl: '-56354.56848',
      liquidationPrice: '26316.89',
    });
    expect(world.position('ann', 'ETHUSDT')).toMatchObject({
      upnl: '-448192.88514',
      // The first tick below 1,153.2563.
      liquidationPrice: '1153.25',
    });
    // 71,200.811444 and 356,512.508122.
    const maintenance = world.margin('ann').maintenanceRequirementQuanta;
    expect(dollars(maintenance)).toBe('427713.319566');
  });
});

/**
 * dYdX v4, x/clob/keeper/liquidations_test.go, TestGetBankruptcyPriceInQuoteQuantums: BTC at 50,000
 * and ETH at 3,000, both with 10 % maintenance; the min value (or max cost) of the position in USD.
 * The loss is split by maintenance requirement, as in.
 */
const BANKRUPTCIES: readonly (readonly [
  source: string,
  collateral: string,
  btc: string,
  eth: string,
  symbol: 'BTC' | 'ETH',
  price: string,
])[] = [
  ['long slightly below maintenance', '-4501', '0.1', '0', 'BTC', '45010'],
  ['short slightly below maintenance', '5499', '-0.1', '0', 'BTC', '54990'],
  ['long at the bankruptcy price', '-5000', '0.1', '0', 'BTC', '50000'],
  ['short at the bankruptcy price', '5000', '-0.1', '0', 'BTC', '50000'],
  ['long below the bankruptcy price', '-5100', '0.1', '0', 'BTC', '51000'],
  ['short below the bankruptcy price', '4900', '-0.1', '0', 'BTC', '49000'],
  ['two longs, the second: 294 USD', '-490', '0.004', '0.1', 'ETH', '2940'],
  ['two shorts, the second: 306 USD', '510', '-0.004', '-0.1', 'ETH', '3060'],
  ['a long and a short, the short: 306 USD', '110', '0.004', '-0.1', 'ETH', '3060'],
  ['a long of little debt', '-13', '1', '0', 'BTC', '13'],
  ['a short of little money', '13', '-1', '0', 'BTC', '13'],
  ['a long that cannot go bankrupt', '1', '1', '0', 'BTC', '0'],
];

describe('bankruptcy prices (dYdX v4)', () => {
  test.each(BANKRUPTCIES)('%s', (_source, collateral, btc, eth, symbol, price) => {
    const world = new RiskWorld([
      { symbol: 'BTC', lotSize: '0.0001', initialMargin: '0.2', maintenanceMargin: '0.1' },
      { symbol: 'ETH', initialMargin: '0.2', maintenanceMargin: '0.1' },
    ]);
    world.price('50000', 'BTC');
    world.price('3000', 'ETH');
    // Their quote balance is cash less the position's cost; here the cost is in the position.
    const value = Number(btc) * 50_000 + Number(eth) * 3000;
    const equity = Math.round(Number(collateral) + value);
    world.fund({ ann: '1000000', bob: '100000000' });
    if (btc !== '0') world.trade('ann', 'bob', btc, '50000', 'BTC');
    if (eth !== '0') world.trade('ann', 'bob', eth, '3000', 'ETH');
    const { state } = world.engine as unknown as { state: Parameters<typeof equityShare>[0] };
    const subaccount = state.subaccount(world.idOf('ann'));
    const exposure = subaccount.exposure(world.marketOf(symbol));
    const unit = new RiskUnit(subaccount, null);
    const share = equityShare(state, unit, usd(String(equity)), exposure);
    const ticks = bankruptcyTicks(state, exposure, share);
    expect(String(ticks)).toBe(price);
  });
});

/**
 * By formula: mean premium and the rate by the published rule, both in parts per 1e9 of an
 * interval.
 */
const FUNDING_RATES: readonly (readonly [string, Record<string, unknown>, number, number])[] = [
  // Binance "Introduction to Binance Futures Funding Rates": F = P + clamp(0.01 % − P, ±0.05 %), every 8 hours.
  ['Binance: no premium → 0.01 %', EIGHT_HOURS(), 0, 100_000],
  ['Binance: P = 0.05 % → 0.01 %', EIGHT_HOURS(), 500_000, 100_000],
  ['Binance: P = 0.06 %, the edge → 0.01 %', EIGHT_HOURS(), 600_000, 100_000],
  ['Binance: P = 0.1 % → 0.05 %', EIGHT_HOURS(), 1_000_000, 500_000],
  ['Binance: P = −0.04 %, the edge → 0.01 %', EIGHT_HOURS(), -400_000, 100_000],
  ['Binance: P = −0.1 % → −0.05 %', EIGHT_HOURS(), -1_000_000, -500_000],
  // Hyperliquid "Funding": the 8-hour rate is paid hourly at one eighth; the interest is 0.00125 %
  // an hour, the cap 4 % an hour.
  ['Hyperliquid: no premium → 0.00125 % an hour', {}, 0, 12_500],
  ['Hyperliquid: P = 1 % → 0.95 % ÷ 8 an hour', {}, 10_000_000, 1_187_500],
  ['Hyperliquid: P = −1 % → −0.95 % ÷ 8 an hour', {}, -10_000_000, -1_187_500],
  ['Hyperliquid: the cap of 4 % an hour', { marginCap: '100' }, 500_000_000, 40_000_000],
  // Deribit, Bit.com: max(0.05 %, P) + min(−0.05 %, P), which is a clamp around zero interest.
  ['Deribit: P = 0.1 % → 0.05 %', { ...EIGHT_HOURS(), interest: '0' }, 1_000_000, 500_000],
  ['Deribit: P = 0.03 % → 0', { ...EIGHT_HOURS(), interest: '0' }, 300_000, 0],
  ['Deribit: P = −0.08 % → −0.03 %', { ...EIGHT_HOURS(), interest: '0' }, -800_000, -300_000],
  // BitMEX: the cap is 75 % of initial less maintenance margin; 1 % and 0.5 % there.
  ['BitMEX: P = 2 % → capped at 0.375 %', EIGHT_HOURS(), 20_000_000, 3_750_000],
];

function EIGHT_HOURS(): Record<string, unknown> {
  return { intervalMs: 28_800_000, divisor: 1 };
}

describe('funding rates', () => {
  test.each(FUNDING_RATES)('%s', (name, funding, premium, rate) => {
    const margin = name.startsWith('BitMEX')
      ? { initialMargin: '0.01', maintenanceMargin: '0.005' }
      : { initialMargin: '0.1', maintenanceMargin: '0.02' };
    const spec = specOf({ ...margin, funding });
    const samples = spec.funding.intervalUs / spec.funding.sampleIntervalUs;
    const sum = BigInt(premium) * BigInt(samples);
    expect(fundingRate(spec.funding, spec.tiers[0]!, sum, samples)).toBe(rate);
  });
});

/** By formula: size, price, rate, and the direction of the payment. */
const PAYMENTS: readonly (readonly [string, string, string, string, string])[] = [
  // Binance "What is Futures Funding Rate": nominal value × rate.
  ['Binance: 10 BTC at 10,000, 0.01 %', '10', '10000', '0.0001', '10'],
  [
    'Hyperliquid: 10 contracts at 10,000, an hour at 1 % premium',
    '10',
    '10000',
    '0.0011875',
    '118.75',
  ],
  ['a short receives it', '-10', '10000', '0.0001', '-10'],
  ['a negative rate pays longs', '10', '10000', '-0.0001', '-10'],
  [
    'Bitget, MoonXBT: position value × rate, 10,024 USD at 0.025 %',
    '1',
    '10024',
    '0.00025',
    '2.506',
  ],
];

describe('funding payments', () => {
  test.each(PAYMENTS)('%s', (_name, size, price, rate, paid) => {
    const lots = Math.round(Number(size) * 1000);
    const ppbRate = ppb(Math.round(Number(rate) * 1e9));
    expect(fundingPayment(lots, priceTicks(Number(price)), 1000, ppbRate)).toBe(usd(paid));
  });
});

describe('vault shares (ERC-4626 with virtual shares, as OpenZeppelin publishes it)', () => {
  test('the first deposit mints one share per dollar; a gain goes to the holders', () => {
    const world = new RiskWorld();
    world.fund({ ann: '100000', bob: '100000' });
    expect(world.transfer('ann', 'vault', '1000')).toBe('ok');
    expect(world.engine.vaultSnapshots(world.idOf('ann'), ...ALL).items[0]?.shares).toBe(
      1_000_000_000n,
    );
  });

  test('bugblow.com: 50,000 after a donation of 100,000 still mints shares worth 50,000 but for one part in a million', () => {
    const world = new RiskWorld([{ makerFee: '0', takerFee: '0.01' }], {
      vaultFeeShare: '1',
      insuranceFeeShare: '0',
    });
    world.fund({ eve: '20000000', pat: '20000000', vic: '60000' });
    world.price('100000');
    // The smallest deposit, then a donation of 100,000 in fees to the vault.
    expect(world.transfer('eve', 'vault', '10')).toBe('ok');
    world.trade('eve', 'pat', '100', '100000');
    expect(world.balance('vault')).toBe('100010');
    expect(world.transfer('vic', 'vault', '50000')).toBe('ok');
    const [snapshot] = world.engine.vaultSnapshots(world.idOf('vic'), ...ALL).items;
    expect(snapshot?.valueQuanta).toBeGreaterThanOrEqual(usd('49999'));
    expect(snapshot?.valueQuanta).toBeLessThanOrEqual(usd('50000'));
    // The donor's shares are worth at most its deposit.
    const [donor] = world.engine.vaultSnapshots(world.idOf('eve'), ...ALL).items;
    expect(donor?.shares).toBe(10_000_000n);
  });
});

const ALL = [0, Infinity, 100] as unknown as [
  Parameters<RiskWorld['engine']['vaultSnapshots']>[1],
  Parameters<RiskWorld['engine']['vaultSnapshots']>[2],
  number,
];

describe('dYdX, "Contract Loss Mechanisms": 500 ABC at 1 with 100 USD on each side', () => {
  function opened(maintenance: string): RiskWorld {
    const world = new RiskWorld([
      { tickSize: '0.001', lotSize: '1', initialMargin: '0.2', maintenanceMargin: maintenance },
    ]);
    world.fund({ a: '100', b: '100' });
    world.price('1');
    world.trade('a', 'b', '500', '1');
    return world;
  }

  test('at 2 B is at −400 and A is closed with a profit of 100, B at 0', () => {
    const world = opened('0.03');
    world.price('2');
    const step = world.events.find((event) => event.kind === 'liquidationStep');
    expect(step).toMatchObject({ step: 'adl', equityQuanta: usd('-400') });
    expect(world.balance('a')).toBe('200');
    expect(world.balance('b')).toBe('0');
  });

  test('with a maintenance of 3 % A needs 15; at 0.801 it has 0.50 left', () => {
    const world = opened('0.03');
    expect(world.margin('a').maintenanceRequirementQuanta).toBe(usd('15'));
    world.price('0.801');
    const step = world.events.find((event) => event.kind === 'liquidationStep');
    expect(step).toMatchObject({ equityQuanta: usd('0.5') });
  });
});

/**
 * dYdX v4 `x/perpetuals/types/liquidity_tier_test.go` (dydxprotocol/v4-chain), TestGetInitialMarginQuoteQuantums and
 * TestGetAdjustedInitialMarginPpm: the initial margin fraction rises linearly with open interest to 100 %.
 */
describe('dYdX v4, open-interest initial margin', () => {
  const rows: readonly (readonly [
    name: string,
    initialPpm: number,
    value: bigint,
    open: bigint,
    lower: bigint,
    upper: bigint,
    expected: bigint,
  ])[] = [
    ['initial margin 20 %', 200_000, 500_000n, 0n, 0n, 0n, 100_000n],
    ['initial margin 50 %', 500_000, 1_000_000n, 0n, 0n, 0n, 500_000n],
    ['10 % of 1 rounds up to 1', 100_000, 1n, 0n, 0n, 0n, 1n],
    ['56.7243 % of 123,456 rounds up to 70,030', 567_243, 123_456n, 0n, 0n, 0n, 70_030n],
    ['no caps, no rise', 200_000, 500_000n, 1_500_000_000_000n, 0n, 0n, 100_000n],
    [
      'half of the way: 60 %',
      200_000,
      500_000n,
      1_500_000_000_000n,
      1_000_000_000_000n,
      2_000_000_000_000n,
      300_000n,
    ],
    [
      'far above the upper cap: 100 %',
      200_000,
      500_000n,
      80_000_000_000_000n,
      25_000_000_000_000n,
      50_000_000_000_000n,
      500_000n,
    ],
    [
      'at the lower cap',
      200_000,
      500_000n,
      25_000_000_000_000n,
      25_000_000_000_000n,
      50_000_000_000_000n,
      100_000n,
    ],
    [
      'realistic numbers: 27.1392 %',
      200_000,
      500_000n,
      28_123_456_789_123n,
      25_000_000_000_000n,
      60_000_000_000_000n,
      135_697n,
    ],
    ['adjusted ppm: zero open interest', 200_000, 1_000_000n, 0n, 1_000_000n, 2_000_000n, 200_000n],
    ['adjusted ppm: in between', 200_000, 1_000_000n, 1_500_000n, 1_000_000n, 2_000_000n, 600_000n],
    // 0.3876536 of the value: dYdX rounds the ppm down to 387,653, here the requirement rounds up.
    ['adjusted ppm: rounded', 200_000, 1_000_000n, 1_234_567n, 1_000_000n, 2_000_000n, 387_654n],
    [
      'adjusted ppm: lower bound',
      200_000,
      1_000_000n,
      1_000_000n,
      1_000_000n,
      2_000_000n,
      200_000n,
    ],
    [
      'adjusted ppm: upper bound',
      200_000,
      1_000_000n,
      2_000_000n,
      1_000_000n,
      2_000_000n,
      1_000_000n,
    ],
    ['adjusted ppm: above', 200_000, 1_000_000n, 2_500_000n, 1_000_000n, 2_000_000n, 1_000_000n],
    ['adjusted ppm: no upper bound', 200_000, 1_000_000n, 1_500_000n, 0n, 0n, 200_000n],
  ];
  test.each(rows)('%s', (_name, initialPpm, value, open, lower, upper, expected) => {
    const tiers = [
      { floorQuanta: quanta(0n), initialMarginPpm: ppm(initialPpm), maintenanceMarginPpm: ppm(0) },
    ];
    const required = requirement(value, tiers, 'initialMarginPpm');
    expect(risenRequirement(value, required, rateRise(open, lower, upper))).toBe(expected);
  });
});
