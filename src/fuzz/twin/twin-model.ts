/** The model of a host: a twin in this process, opened as the host is. */
import { must } from '../../base/assert.ts';
import type { EndpointId } from '../../contract/endpoints.ts';
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig, MarketSpec } from '../../engine/config.ts';
import type { MarketView } from '../../engine/read/views.ts';
import type { Keccak } from '../../gateway/ports.ts';
import type { Address } from '../../num/units.ts';
import { compareReplies } from './compare-replies.ts';
import type { HostReply, SimVerb, TwinHost } from './twin-host.ts';
import { Twin } from './twin.ts';
import {
  mustBeConfig,
  mustBeFunction,
  mustBeMarkets,
  mustBeTexts,
  mustHave,
} from '../fuzz-error.ts';

export interface TwinModelOptions {
  readonly config: ExchangeConfig;
  readonly markets: readonly MarketSpec[];
  /** Accounts that the host lets act. */
  readonly users: readonly Address[];
  readonly keccak: Keccak;
}

/** The twin that a host is compared with, opened as the host was. One for each run of commands. */
export class TwinModel {
  readonly users: readonly Address[];
  readonly twin: Twin;
  private nonce = 0n;

  /** Throws `FuzzError` for other options. */
  constructor(options: TwinModelOptions) {
    mustHave('options', options, ['config', 'markets', 'users', 'keccak']);
    const { config, markets, users, keccak } = options;
    mustBeConfig('config', config);
    mustBeMarkets('markets', markets);
    mustBeTexts('users', users);
    mustBeFunction('keccak', keccak);
    this.users = users;
    this.twin = new Twin(config, markets, keccak, () => () => undefined);
  }

  user(i: number): Address {
    return must(this.users[i % this.users.length], 'there is a user');
  }

  market(i: number): MarketView {
    const markets = this.twin.engine.markets();
    return must(markets[i % markets.length], 'there is a market');
  }

  nextNonce(): bigint {
    this.nonce += 1n;
    return this.nonce;
  }

  /** Ids of the user's open orders, as the contract has them. */
  openOrders(account: Address): readonly string[] {
    const { engine } = this.twin;
    return engine
      .subaccountsOf(account)
      .flatMap(({ id }) => engine.openOrders(id))
      .flatMap(({ orderId }) => this.twin.orderIdOf(orderId) ?? []);
  }

  /** One request to both. Rejects with the first difference and its rule. */
  async call(
    host: TwinHost,
    endpoint: EndpointId,
    request: Readonly<Record<string, unknown>>,
    account: Address | null,
  ): Promise<void> {
    const here = this.twin.call(endpoint, request, account);
    mustAgree(endpoint, endpoint, here, await host.call(endpoint, request, account));
  }

  async sim(
    host: TwinHost,
    verb: SimVerb,
    fields: Readonly<Record<string, unknown>>,
    command: Command,
  ): Promise<void> {
    const here = this.twin.apply(command);
    mustAgree(verb, 'simulation', here, await host.sim(verb, fields));
  }
}

/** Throws when they differ. */
export function mustAgree(
  what: string,
  kind: EndpointId | 'simulation',
  twin: HostReply,
  host: HostReply,
): void {
  const found = compareReplies(kind, twin, host);
  if (found === null) return;
  throw new Error(
    `${what}: ${found.path} is ${found.actual}, by ${found.rule} it is ${found.expected}`,
  );
}
