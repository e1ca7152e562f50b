/**
 * A subaccount at an instant: its figures, and how each is computed, with its numbers. The terms of
 * a formula add up to its value exactly; where the engine's figure has another part (open orders),
 * that part is a term of its own. Rules.
 */
import { requirement } from '../../engine/margin/requirement.ts';
import type { ExchangeView, MarketView, PositionView } from '../../engine/read/views.ts';
import { fraction, money, priceText, sizeText } from '../../gateway/encode.ts';
import type { SubaccountId } from '../../num/units.ts';
import { subaccountName } from './account-names.ts';

export interface FormulaTerm {
  readonly label: string;
  /** The term with its numbers, such as `2 × 101.5 − 190`. */
  readonly text: string;
  /** Signed money; the terms of a formula sum to its value. */
  readonly value: string;
}

export interface Formula {
  readonly name: 'equity' | 'maintenance' | 'initial' | 'freeCollateral';
  readonly rule: string;
  /** The formula in symbols. */
  readonly formula: string;
  readonly terms: readonly FormulaTerm[];
  readonly value: string;
}

export interface PositionAt {
  readonly market: number;
  readonly symbol: string;
  readonly size: string;
  readonly lots: number;
  readonly cost: string;
  readonly mark: string | null;
  readonly notional: string;
  readonly upnl: string;
  readonly fees: string;
  readonly funding: string;
  readonly isolated: boolean;
  readonly isolatedMargin: string;
  readonly maintenance: string;
  readonly liquidationPrice: string | null;
  /** Equity against maintenance at the liquidation price, with numbers; null without one. */
  readonly liquidationText: string | null;
  /** Auto-deleveraging rank from 1 to 5; 5 is closed first. */
  readonly adlQuantile: number | null;
}

export interface AccountAt {
  readonly subaccount: number;
  readonly name: string;
  readonly address: string;
  readonly index: number;
  readonly system: boolean;
  readonly balance: string;
  readonly equity: string;
  readonly maintenance: string;
  readonly initial: string;
  readonly freeCollateral: string;
  readonly withdrawable: string;
  readonly upnl: string;
  readonly pnl: string;
  /** Equity ÷ maintenance, for sorting and colour only; null without a requirement. */
  readonly safety: number | null;
  readonly positions: readonly PositionAt[];
  readonly formulas: readonly Formula[];
}

export function accountAt(view: ExchangeView, id: SubaccountId): AccountAt {
  const subaccount = view.subaccount(id);
  const margin = view.margin(id);
  const positions = view.positions(id);
  const equity = margin.accountValueQuanta;
  const maintenance = margin.maintenanceRequirementQuanta;
  return {
    subaccount: id,
    name: subaccountName(view, id),
    address: view.addressOf(subaccount.account),
    index: subaccount.index,
    system: subaccount.system,
    balance: money(margin.balanceQuanta),
    equity: money(equity),
    maintenance: money(maintenance),
    initial: money(margin.initialRequirementQuanta),
    freeCollateral: money(margin.freeCollateralQuanta),
    withdrawable: money(margin.withdrawableQuanta),
    upnl: money(margin.upnlQuanta),
    pnl: money(equity - margin.netDepositsQuanta),
    safety: maintenance === 0n ? null : Number(equity) / Number(maintenance),
    positions: positions.map((position) => positionAt(view, position)),
    formulas: [
      equityFormula(view, margin.balanceQuanta, positions, equity),
      maintenanceFormula(view, positions, maintenance),
      initialFormula(view, positions, margin.initialRequirementQuanta),
      {
        name: 'freeCollateral',
        rule: 'R-5.8',
        formula: 'equity − initial requirement − haircut and gains of frozen markets',
        terms: [
          { label: 'equity', text: money(equity), value: money(equity) },
          {
            label: 'initial requirement',
            text: `−${money(margin.initialRequirementQuanta)}`,
            value: money(-margin.initialRequirementQuanta),
          },
          ...frozenTerm(margin.freeCollateralQuanta - equity + margin.initialRequirementQuanta),
        ],
        value: money(margin.freeCollateralQuanta),
      },
    ],
  };
}

function frozenTerm(amount: bigint): FormulaTerm[] {
  if (amount === 0n) return [];
  return [{ label: 'frozen markets', text: 'haircut and gains', value: money(amount) }];
}

function equityFormula(
  view: ExchangeView,
  balance: bigint,
  positions: readonly PositionView[],
  equity: bigint,
): Formula {
  const terms: FormulaTerm[] = [{ label: 'balance', text: money(balance), value: money(balance) }];
  for (const position of positions) {
    const market = view.market(position.market);
    const { symbol } = market.spec;
    terms.push({
      label: `unrealised PnL ${symbol}`,
      text: upnlText(market, position),
      value: money(position.upnlQuanta),
    });
    if (position.isolated) {
      const margin = money(position.isolatedMarginQuanta);
      terms.push({ label: `isolated margin ${symbol}`, text: margin, value: margin });
    }
  }
  return {
    name: 'equity',
    rule: 'R-5.5',
    formula: 'balance + Σ (size × mark − cost) + Σ isolated margin',
    terms,
    value: money(equity),
  };
}

function maintenanceFormula(
  view: ExchangeView,
  positions: readonly PositionView[],
  maintenance: bigint,
): Formula {
  return {
    name: 'maintenance',
    rule: 'R-5.4',
    formula: 'Σ ⌈|size| × mark × maintenance rate of its tiers⌉',
    terms: requirementTerms(view, positions, 'maintenanceMarginPpm'),
    value: money(maintenance),
  };
}

function initialFormula(
  view: ExchangeView,
  positions: readonly PositionView[],
  initial: bigint,
): Formula {
  const terms = requirementTerms(view, positions, 'initialMarginPpm');
  const ofPositions = positions.reduce(
    (sum, position) =>
      sum + requirementOf(view.market(position.market), position, 'initialMarginPpm'),
    0n,
  );
  const rest = initial - ofPositions;
  return {
    name: 'initial',
    rule: 'R-5.4',
    formula: 'Σ ⌈|size| × mark × initial rate of its tiers⌉ + open orders and own or raised rates',
    terms:
      rest === 0n
        ? terms
        : [
            ...terms,
            {
              label: 'open orders, own or raised rates',
              text: 'the worse of position with all bids and position with all asks',
              value: money(rest),
            },
          ],
    value: money(initial),
  };
}

function requirementTerms(
  view: ExchangeView,
  positions: readonly PositionView[],
  rate: 'initialMarginPpm' | 'maintenanceMarginPpm',
): FormulaTerm[] {
  return positions.map((position) => {
    const market = view.market(position.market);
    const size = sizeText(market, Math.abs(position.lots));
    const mark = priceText(market, market.markTicks ?? 0);
    return {
      label: market.spec.symbol,
      text: `${size} × ${mark} × ${rateText(market, position, rate)}`,
      value: money(requirementOf(market, position, rate)),
    };
  });
}

function notionalOf(market: MarketView, lots: number, ticks: number): bigint {
  return BigInt(Math.abs(lots)) * BigInt(ticks) * BigInt(market.spec.quantaPerTickLot);
}

function requirementOf(
  market: MarketView,
  { lots }: PositionView,
  rate: 'initialMarginPpm' | 'maintenanceMarginPpm',
): bigint {
  return requirement(notionalOf(market, lots, market.markTicks ?? 0), market.spec.tiers, rate);
}

/** The rate of one tier, or the tiers that the notional spans. */
function rateText(
  market: MarketView,
  { lots }: PositionView,
  rate: 'initialMarginPpm' | 'maintenanceMarginPpm',
): string {
  const value = notionalOf(market, lots, market.markTicks ?? 0);
  const tiers = market.spec.tiers.filter(({ floorQuanta }, i) => i === 0 || floorQuanta < value);
  if (tiers.length === 1) return fraction(tiers[0]?.[rate] ?? 0);
  const parts = tiers.map((tier) => `${fraction(tier[rate])} from ${money(tier.floorQuanta)}`);
  return `(${parts.join(', ')})`;
}

function upnlText(market: MarketView, { lots, costQuanta }: PositionView): string {
  const mark = market.markTicks === null ? 'unknown' : priceText(market, market.markTicks);
  return `${sizeText(market, lots)} × ${mark} − ${money(costQuanta)}`;
}

function positionAt(view: ExchangeView, position: PositionView): PositionAt {
  const market = view.market(position.market);
  const { markTicks, spec } = market;
  return {
    market: position.market,
    symbol: spec.symbol,
    size: sizeText(market, position.lots),
    lots: position.lots,
    cost: money(position.costQuanta),
    mark: markTicks === null ? null : priceText(market, markTicks),
    notional: money(notionalOf(market, position.lots, markTicks ?? 0)),
    upnl: money(position.upnlQuanta),
    fees: money(position.feesQuanta),
    funding: money(position.fundingQuanta),
    isolated: position.isolated,
    isolatedMargin: money(position.isolatedMarginQuanta),
    maintenance: money(requirementOf(market, position, 'maintenanceMarginPpm')),
    liquidationPrice:
      position.liquidationTicks === null ? null : priceText(market, position.liquidationTicks),
    liquidationText: liquidationText(view, market, position),
    adlQuantile: view.adlQuantile(position.subaccount, position.market),
  };
}

/** Equity and maintenance of the unit of the position if the mark were its liquidation price. */
function liquidationText(
  view: ExchangeView,
  market: MarketView,
  position: PositionView,
): string | null {
  const { liquidationTicks: ticks, lots } = position;
  const { markTicks } = market;
  if (ticks === null || markTicks === null) return null;
  const unit = view
    .positions(position.subaccount)
    .filter(({ isolated, market: id }) => (position.isolated ? id === position.market : !isolated));
  const cash = position.isolated
    ? position.isolatedMarginQuanta
    : view.margin(position.subaccount).balanceQuanta;
  const required = (of: MarketView, size: number, at: number): bigint =>
    requirement(notionalOf(of, size, at), of.spec.tiers, 'maintenanceMarginPpm');
  let equity = cash as bigint;
  let maintenance = 0n;
  // Gains of frozen markets count up to their own requirement (R-5.3b).
  let frozenGains = 0n;
  let frozenMaintenance = 0n;
  for (const each of unit) {
    const of = view.market(each.market);
    const at = of.markTicks ?? 0;
    const upnl = signed(each.lots, notionalOf(of, each.lots, at)) - each.costQuanta;
    const counts = of.frozenSinceUs === null || upnl < 0n;
    if (counts) equity += upnl;
    else frozenGains += upnl;
    if (of.frozenSinceUs !== null) frozenMaintenance += required(of, each.lots, at);
    if (each.market === position.market) {
      equity += signed(lots, notionalOf(of, lots, ticks) - notionalOf(of, lots, at));
      maintenance += required(of, lots, ticks);
    } else maintenance += required(of, each.lots, at);
  }
  equity += frozenGains < frozenMaintenance ? frozenGains : frozenMaintenance;
  const relation = equity < maintenance ? '<' : '≥';
  const direction = lots > 0 ? 'at or below' : 'at or above';
  return `mark ${direction} ${priceText(market, ticks)}: equity ${money(equity)} ${relation} maintenance ${money(maintenance)}`;
}

const signed = (size: number, amount: bigint): bigint => (size < 0 ? -amount : amount);
