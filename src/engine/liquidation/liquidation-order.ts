/**
 * Engine orders (R-6.2, step 2): sell a liquidated position on the book, as an `ioc` reduce-only
 * order of its owner. The limit is the band and the price that still pays the liquidation fee. The
 * order pays no taker fee and ignores self-trade prevention (R-2.6a). Its makers get no rebate,
 * since no taker fee funds it.
 */
import { ceilDivBig, floorDivBig, minBig } from '../../num/arithmetic.ts';
import { isNegative, moneyOf, NO_MONEY } from '../../num/money.ts';
import { notional, ppmOfCeil } from '../../num/notional.ts';
import { lots, orderId, ppm, PPM, quanta, type PriceTicks, type Quanta } from '../../num/units.ts';
import type { Exposure } from '../accounts/subaccount.ts';
import type { OrderTerms } from '../commands.ts';
import { NONE } from '../book/order-table.ts';
import { NO_LEVEL } from '../book/price-ladder.ts';
import { endOrder } from '../orders/end.ts';
import { executeFill } from '../orders/fill.ts';
import { fillableLots, retireLeg } from '../orders/protective-orders.ts';
import { accept, addOrder } from '../orders/place.ts';
import { Special } from '../orders/conditional.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { takeFromHouse } from '../tape/displacement.ts';
import { lotsWithinReach } from '../tape/reach.ts';
import { bandLimit } from '../pricing/price-band.ts';
import { liquidationLimit, type EquityShare } from './bankruptcy.ts';
import { feesOf } from '../accounts/fees.ts';
import { NO_FEES, type SideFees } from '../accounts/order-fees.ts';
import { affordsFill } from '../margin/margin.ts';
import type { Market } from '../market/market.ts';
import { settlementTicks } from '../pricing/settlement-price.ts';

/** Expiry that is never reached; the order ends in its own command. */
const NEVER_MS = 9_007_199_254_741n;

/**
 * Worst price at which the engine may close the position: within the band, above bankruptcy plus
 * the fee, and within half of the first tier's maintenance rate of the settlement price. Beyond
 * that, vault or auto-deleveraging is better for the owner.
 */
export function engineLimit(
  state: ExchangeState,
  exposure: Exposure,
  share: EquityShare,
): PriceTicks {
  const market = state.market(exposure.market);
  const side = exposure.positionLots > 0 ? -1 : 1;
  const band = bandLimit(market, side);
  const limit = liquidationLimit(state, exposure, share, state.config.liquidationFeePpm);
  const near = settlementLimit(market, side);
  return (side < 0 ? Math.max(band, limit, near, 1) : Math.min(band, limit, near)) as PriceTicks;
}

/** The settlement price ∓ half of the first tier's maintenance rate, rounded toward it. */
function settlementLimit(market: Market, side: 1 | -1): number {
  const rate = BigInt(market.spec.tiers[0]?.maintenanceMarginPpm ?? 0);
  const price = BigInt(settlementTicks(market));
  const whole = 2n * BigInt(PPM);
  return Number(
    side < 0
      ? ceilDivBig(price * (whole - rate), whole)
      : floorDivBig(price * (whole + rate), whole),
  );
}

/** Closes up to `size` lots of the position on the book; returns the unfilled size. */
export function sendEngineOrder(
  state: State,
  exposure: Exposure,
  share: EquityShare,
  size: number,
): number {
  const market = state.market(exposure.market);
  const owner = state.subaccount(exposure.subaccount);
  const table = state.orders;
  const side = exposure.positionLots > 0 ? -1 : 1;
  const limit = engineLimit(state, exposure, share);
  const id = state.nextOrderId;
  state.nextOrderId = orderId(id + 1);
  const terms: OrderTerms = {
    subaccount: owner.id,
    market: market.id,
    orderType: 'limit',
    lots: lots(side * size),
    priceTicks: limit,
    ioc: true,
    postOnly: false,
    reduceOnly: true,
    nonce: BigInt(state.context.nextEngineOrder()),
    expiresAtMs: NEVER_MS,
    delegate: null,
    clientId: null,
    originator: null,
    originatorFeePpm: ppm(0),
  };
  const slot = addOrder(state, terms, id, owner);
  const conditional = new Special();
  conditional.attached = 'engine';
  table.setSpecial(slot, conditional);
  accept(state, terms, id, slot, owner);
  matchEngineOrder(state, market, slot, exposure, share);
  const left = table.left(slot);
  if (left === 0) endOrder(state, slot, 'filled', null);
  else endOrder(state, slot, 'cancelled', 'iocRemainder');
  return left;
}

function matchEngineOrder(
  state: State,
  market: Market,
  slot: number,
  exposure: Exposure,
  share: EquityShare,
): void {
  const table = state.orders;
  const limit = table.price(slot);
  const side = table.side(slot);
  const opposite = market.book.ladder(side > 0 ? -1 : 1);
  const owner = state.subaccount(exposure.subaccount);
  const value = bankruptValue(market, exposure, share);
  while (table.left(slot) > 0) {
    const level = opposite.bestLevel();
    if (level === NO_LEVEL) return;
    const price = opposite.price(level);
    if (side > 0 ? price > limit : price < limit) return;
    const makerSlot = opposite.head(level);
    const makerHouse = table.isHouse(makerSlot);
    const maker = state.subaccount(table.subaccount(makerSlot));
    if (maker.account === owner.account) {
      endOrder(state, makerSlot, 'cancelled', 'selfTrade');
      continue;
    }
    let size = Math.min(table.left(slot), table.left(makerSlot));
    const makerExposure = maker.exposure(market.id);
    const reduceOnly = table.isReduceOnly(makerSlot);
    if (reduceOnly) {
      size = Math.min(size, fillableLots(table, makerSlot, makerExposure));
      if (size === 0) {
        if (table.conditional(makerSlot)?.leg === true) retireLeg(state, makerSlot, makerExposure);
        else endOrder(state, makerSlot, 'cancelled', 'reduceOnly');
        continue;
      }
    }
    if (makerHouse && market.impact !== null) {
      const makerSide = side > 0 ? -1 : 1;
      size = Math.min(size, lotsWithinReach(state, market, market.impact, makerSide, price));
    }
    let makerFees: SideFees = NO_FEES;
    if (!makerHouse) {
      const fees = feesOf(state, makerSlot, 'maker', size, price);
      makerFees = isNegative(fees.protocol) ? { ...fees, protocol: NO_MONEY } : fees;
      const resting = reduceOnly ? NONE : makerSlot;
      const gives = { lots: lots(-side * size), priceTicks: price, fees: makerFees };
      if (!affordsFill(state, makerExposure, market, gives, resting)) {
        endOrder(state, makerSlot, 'cancelled', 'insufficientMargin');
        continue;
      }
    }
    const fee = liquidationFee(state, market, price, size, value);
    const takerFees: SideFees = { ...NO_FEES, liquidation: moneyOf(fee), others: true };
    const taking = { subaccount: owner, slot, fees: takerFees };
    executeFill(state, market, { slot: makerSlot, fees: makerFees }, taking, size);
    if (makerHouse) takeFromHouse(state, market, side > 0 ? -1 : 1, price, size);
  }
}

/**
 * Value of closing the whole position at bankruptcy (a cost for a short), as a fraction of Quanta.
 */
interface BankruptValue {
  readonly top: bigint;
  readonly bottom: bigint;
  /** Signed lots of the position. */
  readonly lots: number;
}

function bankruptValue(
  market: Market,
  exposure: Exposure,
  { equity, weight, total }: EquityShare,
): BankruptValue {
  const mark = market.markTicks ?? 0;
  const size = lots(Math.abs(exposure.positionLots));
  const value = notional(size, mark as PriceTicks, market.spec.quantaPerTickLot) * total;
  const top = exposure.positionLots > 0 ? value - equity * weight : value + equity * weight;
  return { top, bottom: total, lots: exposure.positionLots };
}

/** The fee, capped at the value that the fill leaves above bankruptcy. */
function liquidationFee(
  state: ExchangeState,
  market: Market,
  price: PriceTicks,
  size: number,
  { top, bottom, lots: position }: BankruptValue,
): Quanta {
  const value = notional(lots(size), price, market.spec.quantaPerTickLot);
  const scale = bottom * BigInt(Math.abs(position));
  const above = BigInt(Math.sign(position)) * (value * scale - top * BigInt(size));
  const left = above > 0n ? above / scale : 0n;
  return quanta(minBig(ppmOfCeil(value, state.config.liquidationFeePpm), left));
}
