/** The reference exchange of a host under test: the same contract, answered in this process. */
import type { EndpointId } from '../../contract/endpoints.ts';
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig, MarketSpec } from '../../engine/config.ts';
import type { EventSink } from '../../engine/events.ts';
import { Exchange } from '../../engine/exchange.ts';
import { Gateway } from '../../gateway/gateway.ts';
import { TrustOrderIds } from '../../gateway/order-ids.ts';
import type { Keccak } from '../../gateway/ports.ts';
import { refusalReply } from '../../gateway/refusal-reply.ts';
import { timeUs, type Address, type OrderId } from '../../num/units.ts';
import { controlRefusal } from './control-bounds.ts';
import type { HostReply } from './twin-host.ts';

export class Twin {
  readonly engine: Exchange;
  /** All commands so far, as a journal of the host's requests. */
  readonly commands: Command[] = [];
  private readonly gateway: Gateway;
  private readonly ids: TrustOrderIds;
  private readonly emit: EventSink;

  /** Opens with the same markets as the host. */
  constructor(
    config: ExchangeConfig,
    markets: readonly MarketSpec[],
    keccak: Keccak,
    sinkOf: (engine: Exchange) => EventSink,
  ) {
    this.engine = new Exchange(config);
    this.emit = sinkOf(this.engine);
    this.ids = new TrustOrderIds(this.engine, keccak);
    this.gateway = new Gateway({
      engine: this.engine,
      submit: (command) => this.submit(command),
      nowUs: () => this.engine.nowUs,
      keccak,
      signatures: 'trust',
      ids: this.ids,
    });
    for (const spec of markets) {
      this.submit({ kind: 'listMarket', timeUs: config.genesisTimeUs, spec });
    }
  }

  call(endpoint: EndpointId, request: unknown, account: Address | null): HostReply {
    const caller = account === null ? null : { account, signer: account };
    return this.gateway.handle(endpoint, request, caller);
  }

  /** Applies a simulation command at the exchange's own time. */
  apply(command: Command): HostReply {
    const refusal = controlRefusal(this.engine, command);
    if (refusal !== null) return refusal;
    const outcome = this.submit({ ...command, timeUs: this.engine.nowUs });
    if (outcome === 'ok') return { status: 200, body: null };
    const { status, message } = refusalReply(outcome);
    return { status, body: message };
  }

  /** Applies a command as it was recorded. */
  repeat(command: Command): void {
    this.submit(command);
  }

  advanceToMs(ms: number): void {
    this.submit({ kind: 'advanceTime', timeUs: timeUs(ms * 1000) });
  }

  /** The contract's id of a known order. */
  orderIdOf(id: OrderId): string | null {
    const order = this.engine.order(id);
    return order === undefined ? null : this.ids.digestOf(order);
  }

  private submit(command: Command): ReturnType<Exchange['apply']> {
    this.commands.push(command);
    return this.engine.apply(command, this.emit);
  }
}
