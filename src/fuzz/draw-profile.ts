/**
 * Draws a profile from a seed. Swarm testing: each run omits some commands and favours others, with
 * its own markets and parameters. States that are rare in one mix are therefore common in another.
 */
import type { MarketInput } from '../gateway/market-config.ts';
import type { ImpactModel } from '../engine/config.ts';
import { formatDecimal, powerOfTen } from '../num/decimal.ts';
import { Dice } from './dice.ts';
import { FuzzError, mustBeCount, mustBeObject, mustBeOneOf } from './fuzz-error.ts';
import { drawCeiling } from './generate/draw-ceiling.ts';
import { drawRetention } from './generate/draw-retention.ts';
import { drawMix } from './draw-mix.ts';
import { drawStart } from './generate/draw-start.ts';
import { PROFILE_NAMES, type FuzzProfile, type ProfileName } from './profile.ts';

export interface DrawOptions {
  readonly name?: ProfileName;
  /** Replaces the drawn number of commands. */
  readonly commands?: number;
}

/** The same seed and name draw the same profile. Throws `FuzzError`. */
export function drawProfile(seed: string, options: DrawOptions = {}): FuzzProfile {
  mustBeObject('options', options);
  const { name = 'swarm' } = options;
  if (typeof seed !== 'string') throw new FuzzError('seed: must be text', { field: 'seed' });
  mustBeOneOf('name', name, PROFILE_NAMES);
  if (options.commands !== undefined) mustBeCount('commands', options.commands);
  const dice = Dice.of(seed, `profile ${name}`);
  const rich = dice.chance(250);
  // Amounts beyond the exact range of a double.
  const whales = rich && dice.chance(400) && name !== 'crisis';
  const counts = name === 'crisis' ? [2, 3, 3] : [1, 2, 2, 2, 3];
  const count = dice.pick(counts);
  const markets = Array.from({ length: count }, (_, i) => {
    const drawn = drawMarket(dice, i, { seed, name, whales });
    return i > 0 && i === count - 1 && dice.chance(600) ? recorded(dice, drawn) : drawn;
  });
  const still = dice.pick([300, 600, 800, 950]);
  // Long oracle outages, while recorded liquidity and reduce-only orders still trade.
  const silent = dice.chance(OUTAGE_PERMILLE[name] ?? 60);
  const solvency = name === 'solvency';
  // Isolated positions in a book that is thin and deep.
  const apart = dice.chance(name === 'stress' ? 250 : 60);
  const mix = drawMix(dice, name);
  const drawn: FuzzProfile = {
    name,
    seed,
    commands: options.commands ?? dice.pick([400, 2000, 6000, 12_000]),
    config: {
      ...drawConfig(dice, name),
      ...drawRetention(seed, name),
      ...(silent ? { triggerSource: 'last', indexStaleMs: 2000 } : {}),
    },
    markets: markets.map(({ input }) => input),
    openingTicks: markets.map(({ ticks }) => ticks),
    deposits: Array.from({ length: dice.between(3, dice.pick([4, 6, 10])) }, () =>
      whales
        ? dice.between(5, 20) * 1_000_000_000
        : dice.between(5, dice.pick(rich ? [10_000, 1_000_000] : [50, 100, 1000, 1000])),
    ),
    insurance: dice.pick(solvency ? [0, 1, 20, 100] : [0, 0, 1, 10, 1000]),
    vault: dice.pick([0, 0, 10, 100, 5000]),
    subaccounts: dice.pick([0, 0, 1, 3]),
    mix: apart ? { ...mix, margin: Math.ceil(mix.order / 6) } : mix,
    prices: {
      stepPpm: dice.pick([200, 1000, 4000]),
      jumpPermille: name === 'stress' || solvency ? 150 : dice.pick([0, 20, 100]),
      jumpPpm: dice.pick(
        solvency ? [100_000, 300_000, 500_000] : [30_000, 100_000, 300_000, 500_000],
      ),
      huntPermille: name === 'stress' ? 500 : dice.pick([0, 50, 200]),
      spreadPpm: apart ? 50_000 : dice.pick([500, 2000, 10_000]),
      revivePermille: silent ? 80 : dice.pick(solvency ? [600, 300, 60] : [950, 950, 800, 60]),
      focusUs: solvency ? dice.pick([0, 5_000_000, 30_000_000]) : 0,
    },
    crisis: CALM,
    leveragePercent: name === 'stress' || solvency ? 4000 : dice.pick([50, 300, 1500, 4000]),
    time: {
      stillPermille: still,
      pauseUs: dice.pick([1000, 100_000, 900_000]),
      jumpPermille: dice.pick(solvency ? [5, 20] : [0, 5, 20]),
      jumpUs: dice.pick(
        solvency ? [15_000_000, 60_000_000, 600_000_000] : [3_000_000, 15_000_000, 60_000_000],
      ),
      edgePermille: dice.pick([0, 5, 30, 100]),
      dayShare: dayShareOf(dice, markets),
    },
    episodeGap: dice.pick([20, 40, 80]),
    firstNonce: dice.pick(FIRST_NONCES),
    nonceEdgePermille: name === 'permissions' ? 200 : 15,
    startMs: 0,
    fullBatchPermille: dice.pick(name === 'permissions' ? [100, 300, 600] : [0, 0, 20]),
    faultPermille: dice.pick([0, 20, 60, 200]),
  };
  return drawStart(name === 'crisis' ? inCrisis(dice, drawn) : forImpact(drawn));
}

/** The reach of the square-root model needs recorded minutes. */
function forImpact(drawn: FuzzProfile): FuzzProfile {
  const rooted = drawn.markets.some((market) => market['impactModel'] === 'squareRoot');
  const time = { ...drawn.time, jumpPermille: 30, jumpUs: 60_000_000 };
  return rooted ? { ...drawn, time } : drawn;
}

/** The last ones are followed by nonces that need another bit. */
const FIRST_NONCES = [100, 100, 2 ** 31 - 200, 2 ** 32 - 200, 2 ** 53 - 1_000_000];

/** Sampled funding has thousands of instants in a day, which the oracle visits one by one. */
function dayShareOf(dice: Dice, markets: readonly { readonly input: MarketInput }[]): number {
  const share = dice.pick([0, 0, 5, 20]);
  const sampled = markets.some(({ input }) => {
    const { funding } = input as { readonly funding?: { readonly source?: unknown } };
    return funding?.source !== 'external';
  });
  return sampled ? 0 : share;
}

const CALM: FuzzProfile['crisis'] = {
  bankruptPermille: 0,
  moneyPermille: 0,
  hourPermille: 0,
  flipPermille: 0,
  fullPermille: 120,
  originatorPermille: 50,
  systemPermille: 100,
};

/** A few users with all their money at risk in markets that gap and fall silent in turn. */
function inCrisis(dice: Dice, drawn: FuzzProfile): FuzzProfile {
  return {
    ...drawn,
    deposits: Array.from({ length: dice.between(3, 6) }, () => dice.between(5, 100)),
    insurance: dice.pick([0, 0, 1, 10]),
    vault: dice.pick([0, 0, 0, 20]),
    subaccounts: dice.pick([0, 0, 1]),
    config: {
      ...drawn.config,
      indexStaleMs: dice.pick([2000, 5000, 20_000]),
      insuranceHourly: dice.pick(['0.01', '0.01', '0.25', '1']),
    },
    prices: {
      stepPpm: dice.pick([200, 1000]),
      jumpPermille: 50,
      jumpPpm: dice.pick([100_000, 300_000]),
      huntPermille: 150,
      spreadPpm: dice.pick([500, 2000]),
      revivePermille: dice.pick([60, 200, 600]),
      focusUs: dice.pick([0, 5_000_000, 30_000_000]),
    },
    crisis: {
      bankruptPermille: dice.pick([100, 300, 500]),
      moneyPermille: dice.pick([100, 300, 600]),
      hourPermille: dice.pick([0, 2, 5]),
      flipPermille: 250,
      fullPermille: dice.pick([120, 300, 600]),
      originatorPermille: dice.pick([50, 300]),
      systemPermille: dice.pick([0, 20]),
    },
    leveragePercent: 4000,
    time: {
      ...drawn.time,
      stillPermille: dice.pick([600, 800, 950]),
      pauseUs: dice.pick([100_000, 900_000]),
      jumpUs: 15_000_000,
    },
    faultPermille: dice.pick([0, 20]),
  };
}

/** Per mille of profiles with oracle outages. */
const OUTAGE_PERMILLE: Partial<Readonly<Record<ProfileName, number>>> = {
  groups: 300,
  solvency: 300,
  crisis: 0,
};

const INDEX_SOURCES: Partial<Readonly<Record<ProfileName, readonly ('oracle' | 'mid')[]>>> = {
  stress: ['oracle'],
  crisis: ['oracle'],
  bars: ['oracle', 'mid', 'mid', 'mid'],
};

/** Bars are refused where impact needs levels. */
const IMPACT_MODELS: Partial<Readonly<Record<ProfileName, readonly ImpactModel[]>>> = {
  bars: ['none', 'permanent', 'halving'],
  tape: ['none', 'permanent', 'halving', 'squareRoot', 'squareRoot'],
};

function drawConfig(dice: Dice, name: ProfileName): Record<string, unknown> {
  const vaultShare = dice.pick([0, 0.5, 1]);
  return {
    selfTradeExpire: dice.below(3),
    triggerSource: dice.pick(['mark', 'mark', 'index', 'last']),
    indexStaleMs: dice.pick(
      name === 'solvency' ? [2000, 20_000, 60_000] : [2000, 20_000, 60_000, 600_000],
    ),
    samplingSeed: Array.from({ length: 16 }, () => dice.below(16).toString(16)).join(''),
    frozenHaircut: dice.pick(['0', '0.5', '0.5', '1']),
    insuranceHourly: dice.pick(
      name === 'solvency' ? ['0', '0.01', '0.25'] : ['0', '0.01', '0.25', '0.25', '1'],
    ),
    vaultLeaveShare: dice.pick(['0', '0.05', '0.5', '1']),
    termsNoticeMs: dice.pick([0, 700, 5000, 60_000]),
    partialLiquidationNotional: dice.pick(
      name === 'stress' ? ['0', '0', '50', '500'] : ['0', '50', '500', '100000'],
    ),
    liquidationSlice: dice.pick(['0.2', '0.2', '0.5', '0.01', '1']),
    liquidationPauseMs: dice.pick([0, 700, 5000, 30_000]),
    liquidationFee: dice.pick(['0', '0.005', '0.005', '0.05']),
    minVaultDeposit: dice.pick(['0.000001', '1', '10']),
    vaultLockupMs: dice.pick([0, 3000, 60_000]),
    vaultFeeShare: String(vaultShare),
    insuranceFeeShare: dice.pick(vaultShare === 1 ? ['0'] : ['0', '0.2', '0.5']),
    ...(name === 'swarm' && dice.chance(200)
      ? { retention: { tradesPerMarket: 50, transfersPerSubaccount: 5 } }
      : {}),
  };
}

interface DrawnMarket {
  readonly input: MarketInput;
  readonly ticks: number;
}

/** Ticks from a millionth to a hundred, lots likewise; their product is at least one Quantum. */
function drawMarket(
  dice: Dice,
  i: number,
  { seed, name, whales }: Pick<FuzzProfile, 'seed' | 'name'> & { readonly whales: boolean },
): DrawnMarket {
  const lowest =
    name === 'stress' || name === 'crisis' ? 1000 : dice.pick([50, 1000, 1000, 20_000, 600_000]);
  const ticks = dice.between(lowest, 2 * lowest);
  const crisis = name === 'crisis';
  const tickScale = dice.between(0, 4);
  // Fine lots allow positions at the limit of small deposits.
  const lotScale = dice.between(
    crisis ? 5 - tickScale : dice.chance(100) ? 0 : finestLots(ticks, tickScale),
    6 - tickScale,
  );
  const initialPpm = dice.pick(
    crisis ? [20_000, 50_000, 100_000] : [20_000, 50_000, 100_000, 200_000, 500_000],
  );
  const takerPpm = dice.pick(crisis ? [0, 350, 500] : [0, 350, 500, 5000]);
  const makerPpm = dice.pick([0, 100, -100, -takerPpm, takerPpm]);
  const external = dice.chance(200);
  const limited = crisis ? 0 : 200;
  const margins = drawMargins(dice, initialPpm);
  // Hunting prices need an external source; bars move the marks of markets that follow the book.
  const indexSource = dice.pick(INDEX_SOURCES[name] ?? ['oracle', 'oracle', 'oracle', 'mid']);
  const markSource = external
    ? 'external'
    : dice.pick(
        indexSource === 'mid'
          ? ['last', 'mid']
          : name === 'stress' || crisis
            ? ['median', 'index']
            : ['median', 'median', 'index', 'last', 'mid'],
      );
  // a book-based mark stays closer to the index than the gap between both margin rates.
  const bound = markSource !== 'external' && markSource !== 'index';
  const ofMid = indexSource === 'mid' && !external ? drawMarkOfMid(`${seed} ${String(i)}`) : null;
  const deviationPpm = dice.pick([1000, 10_000, 200_000]);
  const input: MarketInput = {
    symbol: `M${String(i)}`,
    feedId: `0x${String(i + 1).padStart(64, '0')}`,
    tickSize: formatDecimal(1n, tickScale),
    lotSize: formatDecimal(1n, lotScale),
    ...(whales
      ? largestOrders(ticks, tickScale, lotScale)
      : drawCeiling(`${seed} ${String(i)}`, name, ticks, tickScale)),
    maxOpenOrders: dice.pick(crisis ? [20, 200] : [4, 20, 200, 1000]),
    priceBand: dice.pick(crisis ? ['0.1', '0.5'] : ['0.01', '0.1', '0.1', '0.5']),
    ...margins.terms,
    makerFee: formatDecimal(BigInt(Math.max(makerPpm, -takerPpm)), 6),
    takerFee: formatDecimal(BigInt(takerPpm), 6),
    markSource: ofMid ?? markSource,
    indexSource,
    maxMarkDeviation: formatDecimal(
      BigInt(bound ? Math.min(deviationPpm, margins.gapPpm) : deviationPpm),
      6,
    ),
    // A mark from the book alone needs recorded liquidity or an initial price.
    ...(markSource === 'last' || markSource === 'mid'
      ? dice.chance(600) || ofMid !== null
        ? { recordedLiquidity: true }
        : { initialMark: formatDecimal(BigInt(ticks), tickScale) }
      : {}),
    insuranceHourly: dice.pick(['1', '1', '0.1', '0']),
    vaultQuote: dice.pick(['0', '0.0005', '0.01']),
    ...(dice.chance(limited) ? drawOpenNotional(dice) : {}),
    ...(dice.chance(limited)
      ? { maxOpenInterestNotional: String(dice.pick([5, 20, 200, 2000])) }
      : {}),
    funding: drawFunding(dice, crisis ? 700 : 250),
    ...drawModels(dice, name),
    ...(dice.chance(200)
      ? { minQuantity: formatDecimal(BigInt(dice.between(2, 5)), lotScale) }
      : {}),
    ...(dice.chance(name === 'matching' ? 400 : crisis || name === 'groups' ? 30 : 120)
      ? {
          maxOpenInterest: formatDecimal(openInterest(dice, ticks, tickScale + lotScale), lotScale),
        }
      : {}),
  };
  return { input, ticks };
}

/** Another mark beside an index that is the book's own mid; null keeps that of the book. */
function drawMarkOfMid(seed: string): 'median' | 'index' | null {
  const dice = Dice.of(seed, 'mark of mid');
  return dice.chance(450) ? dice.pick(['median', 'median', 'index']) : null;
}

/** Terms of markets whose mark follows the book, and the limit that episodes set. */
const OF_BOOKS: readonly string[] = ['recordedLiquidity', 'initialMark', 'maxOpenInterest'];

/**
 * A market with recorded marks and funding rates, and cheap lots: one command sets each price, so
 * episodes reach what they aim at.
 */
function recorded(dice: Dice, { input, ticks }: DrawnMarket): DrawnMarket {
  const others = Object.entries(input).filter(([name]) => !OF_BOOKS.includes(name));
  const { symbol, tickSize, lotSize } = input;
  return {
    ticks,
    input: {
      ...Object.fromEntries(others),
      symbol,
      tickSize,
      lotSize,
      markSource: 'external',
      indexSource: 'oracle',
      funding: { source: 'external' },
      priceBand: dice.pick(['0.1', '0.5']),
    },
  };
}

/** Decimals of a lot whose value is at most a few units of collateral, if there are so many. */
function finestLots(ticks: number, tickScale: number): number {
  const digits = String(ticks).length - tickScale;
  return Math.max(0, Math.min(6 - tickScale, digits));
}

function drawModels(
  dice: Dice,
  name: ProfileName,
): Pick<MarketInput, 'queueModel' | 'impactModel' | 'impactHalfLifeMs'> {
  const queueModel = dice.pick(['riskAverse', 'probPower1', 'probPower2', 'probPower3', 'probLog']);
  const impactModel = dice.pick(
    IMPACT_MODELS[name] ?? ['none', 'permanent', 'halving', 'squareRoot'],
  );
  // Own volume must last for some recorded minutes.
  const times = impactModel === 'squareRoot' ? 60 : 1;
  return { queueModel, impactModel, impactHalfLifeMs: dice.pick([100, 1000, 60_000]) * times };
}

/** The max order size falls as the max price rises: notional stays below 2^63. */
function largestOrders(
  ticks: number,
  tickScale: number,
  lotScale: number,
): Pick<MarketInput, 'maxPrice' | 'maxQuantity'> {
  const maxPrice = BigInt(ticks * 20);
  const max = (2n ** 63n - 1n) / (maxPrice * powerOfTen(6 - tickScale - lotScale));
  const maxQuantity = max < MAX_LOTS ? max : MAX_LOTS;
  return {
    maxPrice: formatDecimal(maxPrice, tickScale),
    maxQuantity: formatDecimal(maxQuantity, lotScale),
  };
}

/** Volumes exceed 2^53 lots after about ninety trades; the size at one price does not. */
const MAX_LOTS = 10n ** 14n;

/** In lots: reachable by a few users, and at least a few lots. */
function openInterest(dice: Dice, ticks: number, scale: number): bigint {
  const wholes = BigInt(dice.pick([5, 20, 200, 2000]));
  const size = (wholes * powerOfTen(scale)) / BigInt(ticks);
  return size < 5n ? 5n : size;
}

/** Margin rates, and the max mark deviation under them. */
interface DrawnMargins {
  readonly terms: Record<string, unknown>;
  readonly gapPpm: number;
}

function drawMargins(dice: Dice, initialPpm: number): DrawnMargins {
  const rate = (ppm: number): string => formatDecimal(BigInt(ppm), 6);
  const maintenancePpm = dice.pick([initialPpm / 2, initialPpm / 2, initialPpm, initialPpm / 5]);
  const gapPpm = Math.min(initialPpm - maintenancePpm, Math.floor(maintenancePpm / 2));
  if (!dice.chance(250)) {
    const terms = { initialMargin: rate(initialPpm), maintenanceMargin: rate(maintenancePpm) };
    return { terms, gapPpm };
  }
  const steeperPpm = Math.min(1_000_000, initialPpm * 4);
  const steeperMaintenancePpm = Math.ceil(steeperPpm / 2);
  const terms = {
    marginTiers: [
      {
        notionalFloor: '0',
        initialMargin: rate(initialPpm),
        maintenanceMargin: rate(maintenancePpm),
      },
      {
        notionalFloor: dice.pick(['50', '300', '10000']),
        initialMargin: rate(steeperPpm),
        maintenanceMargin: rate(steeperMaintenancePpm),
      },
    ],
  };
  const steeperGapPpm = Math.min(
    steeperPpm - steeperMaintenancePpm,
    Math.floor(steeperMaintenancePpm / 2),
  );
  return { terms, gapPpm: Math.min(gapPpm, steeperGapPpm) };
}

/** bounds from zero or above, reachable by a few users. */
function drawOpenNotional(dice: Dice): Record<string, unknown> {
  const lower = dice.pick([0, 10, 100]);
  return {
    openNotionalLower: String(lower),
    openNotionalUpper: String(lower + dice.pick([1, 50, 1000])),
  };
}

function drawFunding(dice: Dice, externalPermille: number): Record<string, unknown> {
  if (dice.chance(externalPermille)) return { source: 'external' };
  const sampleMs = dice.pick([200, 1000, 5000, 60_000]);
  return {
    sampleIntervalMs: sampleMs,
    // Of two samples, one is exactly the half that a rate needs.
    intervalMs: sampleMs * dice.pick([1, 2, 5, 20]),
    impactNotional: dice.pick(['1', '20', '500']),
    marginCap: dice.pick(['0.1', '0.75', '4']),
    cap: dice.pick(['0.04', '0.5']),
    interestClamp: dice.pick(['0.0005', '0.05']),
    // Rates of the whole premium reach the bound by the maintenance rate.
    divisor: sampleMs === 200 || sampleMs === 1000 ? 1 : 8,
  };
}
