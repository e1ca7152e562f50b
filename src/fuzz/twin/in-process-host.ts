/** A host in this process: an exchange, its gateway and simulation control. For tests. */
import { ENDPOINTS } from '../../contract/endpoints.ts';
import type { ExchangeConfig, MarketSpec } from '../../engine/config.ts';
import { Exchange } from '../../engine/exchange.ts';
import { Gateway } from '../../gateway/gateway.ts';
import type { Keccak } from '../../gateway/ports.ts';
import { refusalReply } from '../../gateway/refusal-reply.ts';
import type { Address } from '../../num/units.ts';
import { controlRefusal } from './control-bounds.ts';
import { commandOfSim } from './sim-command.ts';
import { SIM_VERBS, type HostReply, type SimVerb, type TwinHost } from './twin-host.ts';
import {
  mustBeConfig,
  mustBeFunction,
  mustBeMarkets,
  mustBeObject,
  mustBeOneOf,
} from '../fuzz-error.ts';

type Fields = Readonly<Record<string, unknown>>;

export class InProcessHost implements TwinHost {
  readonly engine: Exchange;
  private readonly gateway: Gateway;

  /** Throws `FuzzError` for other arguments. */
  constructor(config: ExchangeConfig, markets: readonly MarketSpec[], keccak: Keccak) {
    mustBeConfig('config', config);
    mustBeMarkets('markets', markets);
    mustBeFunction('keccak', keccak);
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
    mustBeOneOf('endpoint', endpoint, Object.keys(ENDPOINTS));
    const caller = account === null ? null : { account, signer: account };
    return Promise.resolve(this.gateway.handle(endpoint, request, caller));
  }

  sim(verb: SimVerb, fields: Fields): Promise<HostReply> {
    mustBeOneOf('verb', verb, SIM_VERBS);
    mustBeObject('fields', fields);
    const command = commandOfSim(this.engine, verb, fields);
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
}
