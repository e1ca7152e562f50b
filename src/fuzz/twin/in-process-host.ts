/** A host in this process: an exchange, its gateway and simulation control. For tests. */
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig, MarketSpec } from '../../engine/config.ts';
import { Exchange } from '../../engine/exchange.ts';
import { stepOf } from '../../gateway/encode.ts';
import { Gateway } from '../../gateway/gateway.ts';
import type { Keccak } from '../../gateway/ports.ts';
import { refusalReply } from '../../gateway/refusal-reply.ts';
import { parseDecimal, stepsExact, stepsHalfUp, type Decimal } from '../../num/decimal.ts';
import {
  address,
  COLLATERAL_DECIMALS,
  ppb,
  priceTicks,
  quanta,
  timeUs,
  type Address,
} from '../../num/units.ts';
import { controlRefusal } from './control-bounds.ts';
import type { HostReply, SimVerb, TwinHost } from './twin-host.ts';

type Fields = Readonly<Record<string, unknown>>;

export class InProcessHost implements TwinHost {
  readonly engine: Exchange;
  private readonly gateway: Gateway;

  constructor(config: ExchangeConfig, markets: readonly MarketSpec[], keccak: Keccak) {
    this.engine = new Exchange(config);
    const at = config.genesisTimeUs;
    for (const spec of markets) this.engine.apply({ kind: 'listMarket', timeUs: at, spec });
    this.gateway = new Gateway({
      engine: this.engine,
      submit: (command) => this.engine.apply(command),
      nowUs: () => this.engine.nowUs,
      keccak,
      signatures: 'trust',
    });
  }

  call(
    endpoint: Parameters<Gateway['handle']>[0],
    request: Fields,
    account: Address | null,
  ): Promise<HostReply> {
    const caller = account === null ? null : { account, signer: account };
    return Promise.resolve(this.gateway.handle(endpoint, request, caller));
  }

  sim(verb: SimVerb, fields: Fields): Promise<HostReply> {
    const command = this.commandOf(verb, fields);
    const refusal = controlRefusal(this.engine, command);
    if (refusal !== null) return Promise.resolve(refusal);
    const outcome = this.engine.apply(command);
    if (outcome !== 'ok') {
      const { status, message } = refusalReply(outcome);
      return Promise.resolve({ status, body: message });
    }
    const body = verb === 'clock' ? { time: Math.floor(this.engine.nowUs / 1000) } : null;
    return Promise.resolve({ status: 200, body });
  }

  private commandOf(verb: SimVerb, fields: Fields): Command {
    const at = this.engine.nowUs;
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
    const market = this.engine.markets().find(({ spec }) => spec.symbol === symbol);
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
