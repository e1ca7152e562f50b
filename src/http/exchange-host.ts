/** State of the HTTP server: a durable exchange, its clock, and its replaceable gateway. */
import type { Command } from '../engine/commands.ts';
import type { Outcome } from '../engine/refusals.ts';
import type { ExchangeView } from '../engine/read/views.ts';
import type { Caller, Reply } from '../gateway/context.ts';
import { AccountHistory } from '../gateway/account-history.ts';
import { Gateway } from '../gateway/gateway.ts';
import { SignedOrderIds, TrustOrderIds, type OrderIds } from '../gateway/order-ids.ts';
import type { Keccak, SignatureVerifier } from '../gateway/ports.ts';
import { signedRequestsOf } from '../gateway/signed-requests.ts';
import { ENDPOINTS, type EndpointId } from '../contract/endpoints.ts';
import { orderId, timeUs, type Address, type TimeUs } from '../num/units.ts';
import type { ReplicaStatus, ServedExchange } from '../journal/served-exchange.ts';
import { StoreStopped } from '../journal/store-stopped.ts';
import { MESSAGES, storeUnavailable } from '../contract/messages.ts';
import type { Replay } from './replay.ts';

/**
 * Max sleep under a wall clock. The clock may jump ahead meanwhile, as when a computer resumes, and
 * the timers of Node do not follow it.
 */
const MAX_SLEEP_MS = 500;
const STOPPED_MS = 1000;

export interface HostOptions {
  readonly exchange: ServedExchange;
  readonly clock: 'wall' | 'virtual';
  /** Milliseconds since 1970; by default of the system. */
  readonly wallMs?: () => number;
  readonly keccak: Keccak;
  readonly signatures: 'trust' | SignatureVerifier;
  /** Requests per second and account; null: not limited. */
  readonly requestsPerSecond: number | null;
}

/** The state that a reply of a replica shows, by its last command. */
export interface ShownState extends ReplicaStatus {
  readonly place: number;
  readonly timeUs: TimeUs;
}

/** A reply and, where the journal is shared, the state that it shows. */
export interface HostReply extends Reply {
  readonly shows?: ShownState;
}

/** A strategy that trades on the exchange from its own process. */
export interface ServedStrategy {
  readonly name: string;
  readonly account: Address;
  readonly state: 'starting' | 'running' | 'ended' | 'failed';
  /** Reason of a failure; empty without one. */
  readonly message: string;
  /** Its last messages, oldest first. */
  readonly log: readonly string[];
}

export class Host {
  readonly exchange: ServedExchange;
  readonly clock: 'wall' | 'virtual';
  /** Of accounts, for reads. */
  readonly history: AccountHistory;
  /** Recorded history that moves the virtual clock; null: there is none. */
  replay: Replay | null = null;
  /** A strategy that trades beside people; null: there is none. */
  strategy: ServedStrategy | null = null;
  /** Reason that clients are given when the server closes their connections. */
  leaving: string = MESSAGES.shuttingDown.message;
  private readonly options: HostOptions;
  private readonly wallMs: () => number;
  private orderIds: OrderIds;
  private gateway: Gateway;
  private virtualUs: number;
  /** Latest time of the system clock that was shown; a clock that steps back does not undo it. */
  private shownUs = 0;
  private timer: NodeJS.Timeout | undefined;
  /** Due time of the timer; Infinity if none is set. */
  private wakesUs = Infinity;
  /** Sum of the advances of the system clock, and its time at the last one. */
  private advancedUs = 0;
  private wallUs: number;

  constructor(options: HostOptions) {
    this.options = options;
    this.wallMs = options.wallMs ?? (() => Date.now());
    this.wallUs = this.wallMs() * 1000;
    this.exchange = options.exchange;
    this.clock = options.clock;
    this.virtualUs = options.exchange.engine.nowUs;
    this.orderIds = this.openIds(this.exchange.recordedIds);
    this.gateway = this.openGateway();
    this.history = new AccountHistory(this.view, () => this.exchange.durableSeq);
    this.exchange.onEvent((event) => {
      this.history.take(event);
    });
    this.exchange.onReset(() => {
      this.history.reset(this.view);
      this.orderIds = this.openIds([...this.exchange.orderIds()]);
      this.gateway = this.openGateway();
    });
    this.exchange.onOrderIds((first, digests) => {
      if (this.orderIds instanceof SignedOrderIds) this.orderIds.remember(orderId(first), digests);
    });
    this.schedule();
  }

  private openGateway(): Gateway {
    const { exchange, options } = this;
    return new Gateway({
      engine: exchange.engine,
      submit: (command) => this.submit(command),
      nowUs: () => this.nowUs(),
      keccak: options.keccak,
      signatures: options.signatures,
      requestsPerSecond: options.requestsPerSecond,
      ids: this.orderIds,
    });
  }

  private openIds(recorded: Iterable<readonly [number, string]>): OrderIds {
    const { exchange, options } = this;
    if (options.signatures === 'trust') return new TrustOrderIds(exchange.engine, options.keccak);
    const ids = new SignedOrderIds(exchange.engine, options.keccak, (first, digests) => {
      exchange.recordOrderIds(first, digests);
    });
    for (const [id, digest] of recorded) ids.remember(orderId(id), [digest]);
    exchange.orderIds = () => ids.entries();
    return ids;
  }

  get requestsPerSecond(): number | null {
    return this.options.requestsPerSecond;
  }

  /** Maps the contract's order ids. */
  get ids(): OrderIds {
    return this.orderIds;
  }

  get view(): ExchangeView {
    return this.exchange.engine;
  }

  /** Clock of the exchange, not before its last command. It never goes back. */
  nowUs(): TimeUs {
    const { nowUs } = this.exchange.engine;
    if (this.clock === 'virtual') return timeUs(Math.max(nowUs, this.virtualUs));
    this.shownUs = Math.max(nowUs, this.shownUs, this.wallMs() * 1000);
    return timeUs(this.shownUs);
  }

  /**
   * Clock for the limits of callers. It goes on while the time of the exchange stands still, as
   * after the system clock was ahead and came back (decision 0130).
   */
  limitsUs(): number {
    if (this.clock === 'virtual') return this.nowUs();
    const wallUs = this.wallMs() * 1000;
    this.advancedUs += Math.max(0, wallUs - this.wallUs);
    this.wallUs = wallUs;
    return this.advancedUs;
  }

  /** Time by which the system clock is behind that of the exchange; 0 on a virtual clock. */
  get clockBehindMs(): number {
    if (this.clock === 'virtual') return 0;
    return Math.max(0, Math.floor(this.nowUs() / 1000) - this.wallMs());
  }

  /** Applies a command at its time, which is not before now. Throws `StoreStopped`. */
  play(command: Command): Outcome {
    this.virtualUs = Math.max(this.virtualUs, command.timeUs);
    return this.submit(command);
  }

  /** Advances the virtual clock; timers that fall due run at their own time. */
  advanceTo(atUs: TimeUs): void {
    this.virtualUs = Math.max(this.virtualUs, atUs);
    this.submit({ kind: 'advanceTime', timeUs: this.nowUs() });
  }

  /** Throws `StoreStopped`. */
  submit(command: Command): Outcome {
    const outcome = this.exchange.submit(command);
    this.schedule();
    return outcome;
  }

  /**
   * Runs the timers that are due by the wall clock, so that a read shows no state that they end. A
   * follower, and a server whose writes are stopped, show the last state of the journal.
   */
  catchUp(): void {
    if (this.clock !== 'wall') return;
    const nowUs = this.nowUs();
    const { engine } = this.exchange;
    if (engine.nextTimerUs() > nowUs || this.exchange.failure !== null) return;
    this.submit({ kind: 'advanceTime', timeUs: nowUs });
  }

  /** Recovers a request's signers ahead of `handle`; null if there is nothing to wait for. */
  verifyAhead(endpoint: EndpointId, input: unknown): Promise<unknown> | null {
    const { signatures } = this.options;
    if (signatures === 'trust') return null;
    return signatures.ahead?.(signedRequestsOf(endpoint, input)) ?? null;
  }

  /**
   * Replies once every command that the reply may show is durable: at once if they are, without a
   * promise.
   */
  handle(
    endpoint: EndpointId,
    input: unknown,
    caller: Caller | null,
  ): HostReply | Promise<HostReply> {
    try {
      // A command runs the timers before it.
      if (ENDPOINTS[endpoint].method === 'GET') this.catchUp();
      const before = this.exchange.engine.seq;
      const reply = this.gateway.handle(endpoint, input, caller);
      const shows = this.shownState();
      const shown = shows === null ? reply : { ...reply, shows };
      // A refusal for want of a lease would deny a command that is about to be committed.
      const isRead = this.exchange.engine.seq === before;
      const durable = isRead ? this.exchange.durable() : this.exchange.committed();
      return durable === null ? shown : durable.then(() => shown, storeStopped);
    } catch (error) {
      return storeStopped(error);
    }
  }

  /** null unless the journal is shared. */
  shownState(): ShownState | null {
    const { replica, engine } = this.exchange;
    return replica === null ? null : { ...replica, place: engine.seq, timeUs: engine.nowUs };
  }

  /** Under a wall clock, engine timers need a command even if no request arrives. */
  private schedule(): void {
    if (this.clock !== 'wall') return;
    const { engine, replica } = this.exchange;
    // A follower may read rows with timers, and then lead.
    const latestUs = replica === null ? Infinity : Number.MAX_SAFE_INTEGER;
    const dueUs = Math.min(engine.nextTimerUs(), latestUs);
    if (dueUs >= this.wakesUs) return;
    clearTimeout(this.timer);
    this.wakesUs = dueUs;
    const waitMs = Math.ceil((dueUs - this.wallMs() * 1000) / 1000);
    const wake = (): void => {
      this.wakesUs = Infinity;
      this.catchUp();
      this.schedule();
    };
    // While writes are stopped, retries periodically.
    const minMs = this.exchange.failure === null ? 0 : STOPPED_MS;
    this.timer = setTimeout(wake, Math.min(MAX_SLEEP_MS, Math.max(minMs, waitMs)));
    this.timer.unref();
  }

  async close(): Promise<void> {
    clearTimeout(this.timer);
    this.replay?.close();
    const { signatures } = this.options;
    if (signatures !== 'trust') await signatures.close?.();
    await this.exchange.close();
  }
}

/** The reply of a request that the store refuses; throws any other error. */
function storeStopped(error: unknown): HostReply {
  if (!(error instanceof StoreStopped)) throw error;
  const { status, message } = storeUnavailable(error.message);
  return { status, body: message };
}
