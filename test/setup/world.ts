/**
 * The exchange of the tests: engine, markets and gateway, on a clock that the test moves. After
 * every command the invariants hold and the oracle agrees, or the test fails.
 */
import type { EndpointId } from '../../src/contract/endpoints.ts';
import type { Command } from '../../src/engine/commands.ts';
import type { ExchangeConfig } from '../../src/engine/config.ts';
import type { EngineEvent } from '../../src/engine/events.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { outcomeCode, type Outcome, type RefusalCode } from '../../src/engine/refusals.ts';
import type { Reply } from '../../src/gateway/context.ts';
import { Gateway } from '../../src/gateway/gateway.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import {
  address,
  priceTicks,
  quanta,
  timeUs,
  type Address,
  type MarketId,
} from '../../src/num/units.ts';
import { divergenceText } from '../../src/oracle/divergence.ts';
import { Lockstep } from '../../src/oracle/lockstep.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';

export class World {
  readonly engine: Exchange;
  readonly gateway: Gateway;
  readonly events: EngineEvent[] = [];
  /** All applied commands, to open another exchange in the same state. */
  readonly commands: Command[] = [];
  /** Off in tests with thousands of commands, which check at the end. */
  checks = true;
  atUs: number;
  /** Names of accounts by address, where a test gives them. */
  protected readonly names = new Map<string, string>();
  private readonly lockstep: Lockstep;

  constructor(config: ExchangeConfig, markets: readonly object[]) {
    this.atUs = config.genesisTimeUs;
    this.engine = new Exchange(config);
    this.lockstep = new Lockstep(this.engine);
    this.gateway = new Gateway({
      engine: this.engine,
      submit: (command) => this.submit(command),
      nowUs: () => this.now,
      keccak,
      signatures: 'trust',
    });
    for (const market of markets) {
      const spec = parseMarketSpec(market, keccak);
      if (!spec.ok) throw new Error(spec.error);
      this.apply({ kind: 'listMarket', timeUs: this.now, spec: spec.value });
    }
  }

  get now(): ReturnType<typeof timeUs> {
    return timeUs(this.atUs);
  }

  /** Applies a command; answers `ok` or the code of its refusal. */
  apply(command: Command): 'ok' | RefusalCode {
    return outcomeCode(this.submit(command));
  }

  submit(command: Command): Outcome {
    this.commands.push(command);
    const note = (event: EngineEvent): void => void this.events.push(event);
    if (!this.checks) return this.engine.apply(command, note);
    const { outcome, divergence } = this.lockstep.apply(command, note);
    if (divergence !== null) throw new Error(divergenceText(divergence));
    const broken = this.engine.checkInvariants();
    if (broken.length > 0) throw new Error(JSON.stringify(broken));
    return outcome;
  }

  /** Calls an endpoint as an account whose token is its own; null: without a token. */
  callAs(account: Address | null, endpoint: EndpointId, input: unknown): Reply {
    return this.gateway.handle(
      endpoint,
      input,
      account === null ? null : { account: address(account), signer: address(account) },
    );
  }

  credit(account: Address, subaccountIndex: number, amount: bigint): 'ok' | RefusalCode {
    return this.apply({
      kind: 'deposit',
      timeUs: this.now,
      account,
      subaccountIndex,
      amount: quanta(amount),
    });
  }

  setIndex(market: MarketId, ticks: number, text: string): 'ok' | RefusalCode {
    return this.apply({
      kind: 'setIndex',
      timeUs: this.now,
      market,
      priceTicks: priceTicks(ticks),
      text,
    });
  }

  wait(ms: number): void {
    this.atUs += ms * 1000;
    this.apply({ kind: 'advanceTime', timeUs: this.now });
  }
}
