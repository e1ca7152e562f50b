/** The command that a request of `/sim` becomes. */
import type { Command } from '../../engine/commands.ts';
import type { ExchangeView } from '../../engine/read/views.ts';
import { stepOf } from '../../gateway/encode.ts';
import { parseDecimal, stepsExact, stepsHalfUp, type Decimal } from '../../num/decimal.ts';
import { address, COLLATERAL_DECIMALS, ppb, priceTicks, quanta, timeUs } from '../../num/units.ts';
import type { SimVerb } from './twin-host.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The command of a simulation request, at the exchange's own time. */
export function commandOfSim(engine: ExchangeView, verb: SimVerb, fields: Fields): Command {
  const at = engine.nowUs;
  if (verb === 'clock')
    return { kind: 'advanceTime', timeUs: timeUs(Number(fields['toMs']) * 1000) };
  if (verb === 'deposit' || verb === 'withdraw') {
    return {
      kind: verb,
      timeUs: at,
      account: address(String(fields['account'])),
      subaccountIndex: Number(fields['subaccountIndex'] ?? 0),
      amount: quanta(inUnits(fields['amount'], COLLATERAL_DECIMALS)),
    };
  }
  const symbol = String(fields['symbol']);
  const market = engine.markets().find(({ spec }) => spec.symbol === symbol);
  if (market === undefined) throw new Error(`${symbol} is not listed`);
  if (verb === 'funding') {
    const rate = ppb(Number(inUnits(fields['rate'], 9)));
    return { kind: 'settleFunding', timeUs: at, market: market.id, ratePpb: rate };
  }
  const text = String(fields['price']);
  const ticks = priceTicks(Number(stepsHalfUp(decimal(text), stepOf(market.spec.tickSize))));
  return verb === 'oracle'
    ? { kind: 'setIndex', timeUs: at, market: market.id, priceTicks: ticks, text }
    : { kind: 'setMark', timeUs: at, market: market.id, priceTicks: ticks };
}

function inUnits(value: unknown, scale: number): bigint {
  const whole = stepsExact(decimal(value), { digits: 1n, scale });
  if (whole === null) throw new Error(`${String(value)} has more than ${String(scale)} decimals`);
  return whole;
}

function decimal(value: unknown): Decimal {
  const parsed = parseDecimal(String(value));
  if (parsed === null) throw new Error(`${String(value)} is not decimal text`);
  return parsed;
}
