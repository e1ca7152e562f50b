/** Facts of the state just before a command, which explain what came of it. */
import type { Command } from '../engine/commands.ts';
import type { ExchangeView } from '../engine/read/views.ts';
import { money, priceText } from '../gateway/encode.ts';
import { commandForms, type CommandForms } from './views/command-at.ts';

export interface StepContext {
  readonly forms: CommandForms;
  /** Best prices of the market that the command names, as text; null without one. */
  readonly bestBid: string | null;
  readonly bestAsk: string | null;
  readonly mark: string | null;
  /** Margin of the account that the command names. */
  readonly subaccount: number | null;
  readonly equity: string | null;
  readonly initialRequirement: string | null;
  readonly freeCollateral: string | null;
}

const NOTHING: Omit<StepContext, 'forms'> = {
  bestBid: null,
  bestAsk: null,
  mark: null,
  subaccount: null,
  equity: null,
  initialRequirement: null,
  freeCollateral: null,
};

export function contextOf(view: ExchangeView, command: Command): StepContext {
  return {
    ...NOTHING,
    forms: commandForms(view, command),
    ...marketContext(view, command),
    ...accountContext(view, command),
  };
}

function marketContext(view: ExchangeView, command: Command): Partial<StepContext> {
  const id = marketOf(view, command);
  const market = id === null ? undefined : view.markets()[id];
  if (market === undefined) return {};
  const { bestBid, bestAsk, markTicks } = market;
  return {
    bestBid: bestBid === null ? null : priceText(market, bestBid.priceTicks),
    bestAsk: bestAsk === null ? null : priceText(market, bestAsk.priceTicks),
    mark: markTicks === null ? null : priceText(market, markTicks),
  };
}

function accountContext(view: ExchangeView, command: Command): Partial<StepContext> {
  const id = subaccountOf(view, command);
  if (id === null || id < 0 || id >= view.subaccountCount) return {};
  const margin = view.margin(view.subaccount(id).id);
  return {
    subaccount: id,
    equity: money(margin.accountValueQuanta),
    initialRequirement: money(margin.initialRequirementQuanta),
    freeCollateral: money(margin.freeCollateralQuanta),
  };
}

function marketOf(view: ExchangeView, command: Command): number | null {
  if (command.kind === 'placeOrders') return command.orders[0]?.market ?? null;
  if (command.kind === 'cancelOrder') return view.order(command.orderId)?.market ?? null;
  return 'market' in command ? command.market : null;
}

/** The subaccount that a command acts for; null if it names none. */
export function subaccountOf(
  view: ExchangeView,
  command: Command,
): ReturnType<ExchangeView['subaccount']>['id'] | null {
  if (command.kind === 'cancelOrder') return view.order(command.orderId)?.subaccount ?? null;
  if (command.kind === 'transfer') {
    return view.subaccountIdOf(command.from, command.fromIndex) ?? null;
  }
  if (command.kind === 'deposit' || command.kind === 'withdraw') {
    return view.subaccountIdOf(command.account, command.subaccountIndex) ?? null;
  }
  return 'subaccount' in command ? command.subaccount : null;
}
