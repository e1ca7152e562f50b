/**
 * Operator requests (§13), decoded into commands; errors name the field and its limit. HTTP,
 * scenarios and programs share these functions, so a request has one meaning.
 */
import { invalidField, MESSAGES, referenceUsed } from '../contract/messages.ts';
import type { Command } from '../engine/commands.ts';
import type { MarketSpec, MarketStatus } from '../engine/config.ts';
import type { ExchangeView, OperatorEntry } from '../engine/read/views.ts';
import { stepsExact } from '../num/decimal.ts';
import {
  COLLATERAL_DECIMALS,
  priceTicks,
  quanta,
  type Address,
  type MarketId,
  type PriceTicks,
  type Quanta,
  type TimeUs,
} from '../num/units.ts';
import { mustAccount } from './authorise.ts';
import { word } from './config-values.ts';
import { money, priceText, stepOf } from './encode.ts';
import { Fields } from './fields.ts';
import { parseMarketSpec } from './market-config.ts';
import { marketText } from './market-text.ts';
import type { Keccak } from './ports.ts';
import { RequestError } from './request-error.ts';

const STATUSES = ['open', 'postOnly', 'reduceOnly', 'cancelOnly', 'halted'] as const;
const MAX_AUDIT = 1000;
const MONEY: readonly OperatorEntry['kind'][] = ['deposit', 'withdraw'];

export interface OperatorContext {
  readonly view: ExchangeView;
  readonly nowUs: TimeUs;
  readonly keccak: Keccak;
}

/** Command of a scenario or program, by its kind. */
export function operatorCommand(
  context: OperatorContext,
  kind: 'listMarket' | 'setMarketTerms' | 'setMarketStatus' | 'delistMarket',
  symbol: string,
  request: unknown,
): Command {
  switch (kind) {
    case 'listMarket':
      return listMarketCommand(context, request);
    case 'setMarketTerms':
      return setTermsCommand(context, symbol, request);
    case 'setMarketStatus':
      return setStatusCommand(context, symbol, request);
    case 'delistMarket':
      return delistCommand(context, symbol, request);
  }
}

/** Lists a market; the fields are those of a market in a configuration file. */
export function listMarketCommand({ nowUs, keccak }: OperatorContext, input: unknown): Command {
  return { kind: 'listMarket', timeUs: nowUs, spec: specOf(input, keccak) };
}

/**
 * Changes market terms. Absent fields keep their value, or their announced value during a notice.
 * `marginTiers` replaces all tiers; `funding` is merged by field.
 */
export function setTermsCommand(context: OperatorContext, symbol: string, input: unknown): Command {
  const market = marketOf(context.view, symbol);
  const changed = recordOf(input, 'terms');
  for (const name of ['symbol', 'feedId', 'tickSize', 'lotSize']) {
    if (name in changed) throw invalid(name, 'identifies the market and cannot change');
  }
  const { spec: inForce, nextSpec } = context.view.market(market);
  const current = marketText(nextSpec ?? inForce);
  const tiersGiven = ['initialMargin', 'maintenanceMargin'].some((name) => name in changed);
  const kept = Object.fromEntries(
    Object.entries(current).filter(([name]) => !(tiersGiven && name === 'marginTiers')),
  );
  const funding =
    changed['funding'] === undefined
      ? current['funding']
      : {
          ...recordOf(current['funding'], 'funding'),
          ...recordOf(changed['funding'], 'funding'),
        };
  const spec = specOf(defined({ ...kept, ...changed, funding }), context.keccak);
  return { kind: 'setMarketTerms', timeUs: context.nowUs, market, spec };
}

export function setStatusCommand(
  { view, nowUs }: OperatorContext,
  symbol: string,
  input: unknown,
): Command {
  const market = marketOf(view, symbol);
  const fields = new Fields(input, ['status'], true);
  fields.text('status');
  const status: Exclude<MarketStatus, 'delisted'> = word(fields, 'status', STATUSES, 'open');
  return { kind: 'setMarketStatus', timeUs: nowUs, market, status };
}

/** `price` is optional; by default positions are settled at the index price. */
export function delistCommand(
  { view, nowUs }: OperatorContext,
  symbol: string,
  input: unknown,
): Command {
  const market = marketOf(view, symbol);
  const fields = new Fields(input, ['price'], true);
  const price = fields.has('price') ? ticksOf(fields, view.market(market).spec) : null;
  return { kind: 'delistMarket', timeUs: nowUs, market, priceTicks: price };
}

/** Deposit or withdrawal: `account`, `subaccountIndex` [0], `amount`, `reference`. */
export function moneyCommand(
  kind: 'deposit' | 'withdraw',
  { view, nowUs, keccak }: OperatorContext,
  input: unknown,
): Command {
  const fields = new Fields(input, ['account', 'subaccountIndex', 'amount', 'reference'], true);
  const account = fields.address('account', keccak);
  const subaccountIndex = fields.has('subaccountIndex')
    ? fields.subaccountIndex('subaccountIndex')
    : 0;
  const amount = amountOf(fields);
  if (kind === 'withdraw') mustAccount({ engine: view }, account);
  return { kind, timeUs: nowUs, account, subaccountIndex, amount, ...readReference(fields) };
}

/** Deposit to the insurance fund: `amount`, `reference`. */
export function creditInsuranceCommand({ view, nowUs }: OperatorContext, input: unknown): Command {
  const fields = new Fields(input, ['amount', 'reference'], true);
  return {
    kind: 'deposit',
    timeUs: nowUs,
    account: view.config.insuranceAccount,
    subaccountIndex: 0,
    amount: amountOf(fields),
    ...readReference(fields),
  };
}

/**
 * True if the request was accepted before, by its reference: it is answered again, and nothing is
 * applied. Another request with that reference is an error. The memory is the audit list, which
 * every replay of the journal makes again.
 */
export function isRepeated(view: ExchangeView, command: Command): boolean {
  if (command.kind !== 'deposit' && command.kind !== 'withdraw') return false;
  const { reference } = command;
  if (reference === undefined) return false;
  const entry = view
    .operatorLog()
    .findLast(({ kind, detail }) => MONEY.includes(kind) && detail === reference);
  if (entry?.subaccount == null || entry.amountQuanta === null) return false;
  const { account, subaccountIndex } = ownerOf(view, entry.subaccount);
  if (
    entry.kind === command.kind &&
    account === command.account &&
    subaccountIndex === command.subaccountIndex &&
    entry.amountQuanta === command.amount
  ) {
    return true;
  }
  throw new RequestError(
    referenceUsed(
      `a ${entry.kind === 'deposit' ? 'deposit' : 'withdrawal'} of ${money(entry.amountQuanta)}, ` +
        `account ${account}, subaccountIndex ${String(subaccountIndex)}`,
    ),
  );
}

/** The field `reference` of a deposit or withdrawal: 1 to 64 printable ASCII characters. */
export function readReference(fields: Fields): { readonly reference?: string } {
  return fields.has('reference') ? { reference: fields.clientId('reference') } : {};
}

/** Accepted operator commands, newest first: `limit` [100], at most 1,000. */
export function operatorAudit(view: ExchangeView, input: unknown): unknown {
  const fields = new Fields(input, ['limit'], true);
  const limit = fields.has('limit') ? Number(fields.integer('limit')) : 100;
  if (!(limit >= 1 && limit <= MAX_AUDIT)) {
    fields.fail('limit', `must be from 1 to ${String(MAX_AUDIT)}, got ${String(limit)}`);
  }
  return view
    .operatorLog()
    .slice(-limit)
    .reverse()
    .map((entry) => auditRecord(view, entry));
}

function auditRecord(view: ExchangeView, entry: OperatorEntry): unknown {
  const market = entry.market === null ? null : view.market(entry.market);
  const owner: { account: Address; subaccountIndex: number } | null =
    entry.subaccount === null ? null : ownerOf(view, entry.subaccount);
  const price =
    entry.kind === 'delistMarket' && market !== null
      ? priceText(market, priceTicks(Number(entry.detail)))
      : null;
  return {
    sequenceNumber: entry.seq,
    time: Math.floor(entry.timeUs / 1000),
    command: entry.kind,
    symbol: market?.spec.symbol ?? null,
    account: owner?.account ?? null,
    subaccountIndex: owner?.subaccountIndex ?? null,
    amount: entry.amountQuanta === null ? null : money(entry.amountQuanta),
    status: entry.kind === 'setMarketStatus' ? entry.detail : null,
    price,
    reference: MONEY.includes(entry.kind) && entry.detail !== '' ? entry.detail : null,
  };
}

function ownerOf(
  view: ExchangeView,
  id: NonNullable<OperatorEntry['subaccount']>,
): { account: Address; subaccountIndex: number } {
  const { account, index } = view.subaccount(id);
  return { account: view.addressOf(account), subaccountIndex: index };
}

function marketOf(view: ExchangeView, symbol: string): MarketId {
  const market = view.marketIdOf(symbol);
  if (market === undefined) throw new RequestError(MESSAGES.symbolNotFound);
  return market;
}

function specOf(input: unknown, keccak: Keccak): MarketSpec {
  const parsed = parseMarketSpec(input, keccak);
  if (!parsed.ok) throw new RequestError({ status: 400, message: parsed.error });
  return parsed.value;
}

function ticksOf(fields: Fields, spec: MarketSpec): PriceTicks {
  const ticks = stepsExact(fields.decimal('price'), stepOf(spec.tickSize));
  if (ticks === null || ticks < 1n || ticks > BigInt(spec.maxPriceTicks)) {
    fields.fail('price', `must be a multiple of tickSize ${spec.tickSize} up to maxPrice`);
  }
  return priceTicks(Number(ticks));
}

function amountOf(fields: Fields): Quanta {
  const amount = stepsExact(fields.decimal('amount'), { digits: 1n, scale: COLLATERAL_DECIMALS });
  if (amount === null) {
    fields.fail('amount', `must have at most ${String(COLLATERAL_DECIMALS)} decimals`);
  }
  if (BigInt.asIntN(64, amount) !== amount) fields.fail('amount', 'exceeds 64 bits');
  return quanta(amount);
}

function recordOf(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(name, 'must be an object');
  }
  return value as Readonly<Record<string, unknown>>;
}

/** Drops null fields: null removes an optional limit. */
function defined(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
}

const invalid = (name: string, problem: string): RequestError =>
  new RequestError(invalidField(name, problem));
