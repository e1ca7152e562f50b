/**
 * fast-check arbitraries: fuzz profiles, and model commands for `fc.asyncModelRun`. The model is a
 * reference exchange (twin) in this process; the real system is a host with this contract. Each
 * command is one request to both and fails if the replies differ.
 * @packageDocumentation
 */
import fc from 'fast-check';
import { must } from '../base/assert.ts';
import { priceText, sizeText, ZERO_ADDRESS } from '../gateway/encode.ts';
import { formatDecimal } from '../num/decimal.ts';
import { COLLATERAL_DECIMALS, priceTicks, quanta } from '../num/units.ts';
import { drawProfile } from './draw-profile.ts';
import { PROFILE_NAMES, type FuzzProfile, type ProfileName } from './profile.ts';
import { NEVER_MS } from './run-setup.ts';
import type { TwinHost } from './twin/twin-host.ts';
import { mustAgree, TwinModel } from './twin/twin-model.ts';
import { mustBeObject, mustBeOneOf } from './fuzz-error.ts';

/**
 * Profiles for `runFuzz`. They shrink to fewer commands; use `shrink` to minimise what a run finds.
 */
export function fuzzProfiles(name?: ProfileName): fc.Arbitrary<FuzzProfile> {
  if (name !== undefined) mustBeOneOf('name', name, PROFILE_NAMES);
  return fc
    .record({
      seed: fc.noShrink(fc.nat()),
      name: fc.noShrink(name === undefined ? fc.constantFrom(...PROFILE_NAMES) : fc.constant(name)),
      commands: fc.integer({ min: 50, max: 1000 }),
    })
    .map(({ seed, ...options }) => drawProfile(String(seed), options));
}

/** Command of `fc.asyncModelRun(() => ({ model, real: host }), commands)`. */
export type TwinCommand = fc.AsyncCommand<TwinModel, TwinHost>;

/** Sequences of requests: deposits, prices, orders, cancels, margins, transfers, time, reads. */
export function twinCommands(
  constraints: fc.CommandsContraints = {},
): fc.Arbitrary<Iterable<TwinCommand>> {
  mustBeObject('constraints', constraints);
  const who = fc.nat(7);
  const where = fc.nat(3);
  return fc.commands<TwinModel, TwinHost, false>(
    [
      fc.record({ who, whole: fc.integer({ min: 1, max: 10_000 }) }).map(depositCommand),
      fc.record({ where, percent: fc.integer({ min: 60, max: 140 }) }).map(oracleCommand),
      fc
        .record({
          who,
          where,
          buys: fc.boolean(),
          lots: fc.integer({ min: 1, max: 500 }),
          permille: fc.integer({ min: -30, max: 30 }),
          ioc: fc.boolean(),
          reduceOnly: fc.boolean(),
        })
        .map(orderCommand),
      fc.record({ who, nth: fc.nat(9) }).map(cancelCommand),
      fc
        .record({ who, where, isolated: fc.boolean(), percent: fc.integer({ min: 1, max: 100 }) })
        .map(marginCommand),
      fc.record({ who, to: who, whole: fc.integer({ min: 1, max: 500 }) }).map(transferCommand),
      fc.record({ ms: fc.integer({ min: 1, max: 90_000 }) }).map(waitCommand),
      fc.record({ who, where }).map(readCommand),
    ],
    constraints,
  );
}

/** A command for both; `words` is its text in a counterexample. */
function both(
  words: string,
  run: (model: TwinModel, host: TwinHost) => Promise<void>,
  check: (model: TwinModel) => boolean = () => true,
): TwinCommand {
  return { check, run, toString: () => words };
}

const money = (whole: number): string => formatDecimal(BigInt(whole), 0);

function depositCommand({ who, whole }: { who: number; whole: number }): TwinCommand {
  return both(`deposit(${String(who)}, ${String(whole)})`, (model, host) => {
    const account = model.user(who);
    const amount = quanta(BigInt(whole) * 10n ** BigInt(COLLATERAL_DECIMALS));
    const command = { kind: 'deposit', account, subaccountIndex: 0, amount } as const;
    const fields = { account, subaccountIndex: 0, amount: money(whole) };
    return model.sim(host, 'deposit', fields, { ...command, timeUs: model.twin.engine.nowUs });
  });
}

/** An index around 1,000 of the collateral per typical unit of the market, scaled by `percent`. */
function oracleCommand({ where, percent }: { where: number; percent: number }): TwinCommand {
  return both(`oracle(${String(where)}, ${String(percent)} %)`, (model, host) => {
    const market = model.market(where);
    const ticks = priceTicks(percent * 1000);
    const text = priceText(market, ticks);
    const timeUs = model.twin.engine.nowUs;
    const command = {
      kind: 'setIndex',
      timeUs,
      market: market.id,
      priceTicks: ticks,
      text,
    } as const;
    return model.sim(host, 'oracle', { symbol: market.spec.symbol, price: text }, command);
  });
}

function orderCommand(order: {
  who: number;
  where: number;
  buys: boolean;
  lots: number;
  permille: number;
  ioc: boolean;
  reduceOnly: boolean;
}): TwinCommand {
  return both(`order(${JSON.stringify(order)})`, (model, host) => {
    const account = model.user(order.who);
    const market = model.market(order.where);
    const from = market.markTicks ?? 100_000;
    const ticks = Math.max(1, from + Math.trunc((from * order.permille) / 1000));
    const size = Math.max(order.lots, market.spec.minLots);
    const request = {
      account,
      subaccountIndex: 0,
      symbol: market.spec.symbol,
      orderType: 'limit',
      price: priceText(market, ticks),
      quantity: sizeText(market, order.buys ? size : -size),
      nonce: model.nextNonce(),
      expiresAt: NEVER_MS,
      originator: ZERO_ADDRESS,
      originatorFee: 0,
      flags: { ioc: order.ioc, postOnly: false, reduceOnly: order.reduceOnly },
      signatures: [],
    };
    return model.call(host, 'submitOrder', request, account);
  });
}

function cancelCommand({ who, nth }: { who: number; nth: number }): TwinCommand {
  return both(
    `cancel(${String(who)}, ${String(nth)})`,
    (model, host) => {
      const account = model.user(who);
      const open = model.openOrders(account);
      const orderId = must(open[nth % open.length], 'an open order');
      return model.call(host, 'cancelOrder', { account, orderId }, account);
    },
    (model) => model.openOrders(model.user(who)).length > 0,
  );
}

function marginCommand(setting: {
  who: number;
  where: number;
  isolated: boolean;
  percent: number;
}): TwinCommand {
  return both(`margin(${JSON.stringify(setting)})`, (model, host) => {
    const account = model.user(setting.who);
    const request = {
      account,
      subaccountIndex: 0,
      symbol: model.market(setting.where).spec.symbol,
      isolated: setting.isolated,
      margin: formatDecimal(BigInt(setting.percent), 2),
      nonce: model.nextNonce(),
      expiresAt: NEVER_MS,
      signatures: [],
    };
    return model.call(host, 'updateMargin', request, account);
  });
}

function transferCommand({
  who,
  to,
  whole,
}: {
  who: number;
  to: number;
  whole: number;
}): TwinCommand {
  return both(`transfer(${String(who)}, ${String(to)}, ${String(whole)})`, (model, host) => {
    const account = model.user(who);
    const request = {
      accountFrom: account,
      subaccountIndexFrom: 0,
      accountTo: model.user(to),
      subaccountIndexTo: 0,
      amount: money(whole),
      feedId: model.twin.engine.config.cashFeedId,
      target: account,
      nonce: model.nextNonce(),
      expiresAt: NEVER_MS,
      signatures: [],
    };
    return model.call(host, 'transfer', request, account);
  });
}

function waitCommand({ ms }: { ms: number }): TwinCommand {
  return both(`wait(${String(ms)} ms)`, async (model, host) => {
    const toMs = Math.ceil(model.twin.engine.nowUs / 1000) + ms;
    model.twin.advanceToMs(toMs);
    mustAgree(
      'clock',
      'simulation',
      { status: 200, body: { time: toMs } },
      await host.sim('clock', { toMs }),
    );
  });
}

function readCommand({ who, where }: { who: number; where: number }): TwinCommand {
  return both(`read(${String(who)}, ${String(where)})`, async (model, host) => {
    const account = model.user(who);
    const { symbol } = model.market(where).spec;
    const owner = { account, subaccountIndex: 0 };
    await model.call(host, 'getBook', { symbol, depth: 20 }, null);
    await model.call(host, 'getPrice', { symbol }, null);
    await model.call(host, 'getStats', owner, account);
    await model.call(host, 'getPositions', owner, account);
    await model.call(host, 'listOrders', { ...owner, status: 'open' }, account);
  });
}
