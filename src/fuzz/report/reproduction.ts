/**
 * A failure as steps that a reader can follow: each command as the request of its author where that
 * request makes the same command, otherwise the command itself. The answers are those of the
 * oracle, so a step asserts what the rules require and not what the broken exchange replies.
 */
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import type { Engine } from '../../engine/read/views.ts';
import type { RefusalCode } from '../../engine/refusals.ts';
import type { Keccak } from '../../gateway/ports.ts';
import { TrustOrderIds } from '../../gateway/order-ids.ts';
import { parseMarketSpec } from '../../gateway/market-config.ts';
import { overPredefined } from '../../gateway/market-list.ts';
import { describeCommand } from '../../journal/format/codec.ts';
import { Oracle } from '../../oracle/oracle.ts';
import { orderId, type OrderId } from '../../num/units.ts';
import { commandOfRequest, opensGateway } from '../checks/request-command.ts';
import { actOf, type RequestForm } from './request-form.ts';
import { marketTerms } from './terms-text.ts';

export interface ReproductionStep {
  /** The request; null: the command itself. */
  readonly act: RequestForm | null;
  /** The command, as the step makes it. */
  readonly command: Command;
  /** Time before a request; 0 before a command, which has its own time. */
  readonly waitUs: number;
  /** The outcome by the rules; null if the oracle has none. */
  readonly answer: 'ok' | RefusalCode | null;
  /** Name under which later steps refer to its reply; null if none does. */
  readonly savedAs: string | null;
}

export interface Reproduction {
  /** Markets that are listed at the start; their commands are in no step. */
  readonly opening: readonly Command[];
  readonly steps: readonly ReproductionStep[];
  /** All commands that the steps make, with those that move the clock. */
  readonly commands: readonly Command[];
}

export interface ReproductionOptions {
  readonly createEngine: (config: ExchangeConfig) => Engine;
  readonly keccak: Keccak;
  /** How a request names an earlier order: by the reply that it is in, or by its digest. */
  readonly reference: (source: OrderSource) => string;
  /** Whether recorded history has steps of its own. */
  readonly tape: boolean;
  /** False: every step is a command, so that the run is the same to the microsecond. */
  readonly readable: boolean;
}

/** An order: the nth of a step whose reply is saved under a name. */
export interface OrderSource {
  readonly act: RequestForm;
  readonly name: string;
  readonly nth: number;
  readonly digest: string;
}

export function reproduce(
  config: ExchangeConfig,
  commands: readonly Command[],
  options: ReproductionOptions,
): Reproduction {
  const opening = options.readable ? openingOf(config, commands) : [];
  const writer = new Writer(config, options);
  for (const command of opening) writer.open(command);
  for (const command of commands.slice(opening.length)) writer.add(command);
  return { opening, ...writer.finish() };
}

/** Listings before all other commands, if their text makes the same market. */
function openingOf(config: ExchangeConfig, commands: readonly Command[]): Command[] {
  const opening: Command[] = [];
  for (const command of commands) {
    if (command.kind !== 'listMarket' || command.timeUs !== config.genesisTimeUs) break;
    const terms = overPredefined(marketTerms(command.spec));
    const parsed = parseMarketSpec(terms, () => command.spec.feedId.slice(2));
    if (!parsed.ok) break;
    if (textOf(command) !== textOf({ ...command, spec: parsed.value })) break;
    opening.push(command);
  }
  return opening;
}

const textOf = (command: Command): string => JSON.stringify(describeCommand(command));

class Writer {
  private readonly engine: Engine;
  private readonly oracle: Oracle;
  private readonly ids: TrustOrderIds;
  private readonly gateway: ReturnType<typeof opensGateway>;
  private readonly options: ReproductionOptions;
  private readonly steps: ReproductionStep[] = [];
  private readonly commands: Command[] = [];
  private readonly placed = new Map<OrderId, { readonly at: number; readonly nth: number }>();
  private readonly referred = new Set<number>();
  /** Max prices of markets of the opening: a scenario names others in requests only. */
  private readonly maxPrices = new Map<string, number>();
  /** False once the engine or the oracle has thrown. */
  private isSound = true;

  constructor(config: ExchangeConfig, options: ReproductionOptions) {
    this.options = options;
    this.engine = options.createEngine(config);
    this.oracle = new Oracle(config);
    this.ids = new TrustOrderIds(this.engine, options.keccak);
    this.gateway = opensGateway(this.engine, options.keccak, this.ids);
  }

  open(command: Command): void {
    if (command.kind === 'listMarket') {
      this.maxPrices.set(command.spec.symbol, command.spec.maxPriceTicks);
    }
    this.apply(command);
  }

  add(command: Command): void {
    const { engine, options } = this;
    const waitUs = Math.max(0, command.timeUs - engine.nowUs);
    const at = this.steps.length;
    let before = engine.lastOrderId;
    let act: RequestForm | null = null;
    if (options.readable && this.isSound) {
      if (waitUs > 0) this.apply({ kind: 'advanceTime', timeUs: command.timeUs });
      // The reply has none of the orders that the exchange itself places while time passes.
      before = engine.lastOrderId;
      act = this.actOf(command);
      // Only a request has a step that waits.
      if (waitUs > 0 && act === null) this.commands.pop();
    }
    const made = act === null ? command : commandOf(command, act);
    const isOver = act?.kind === 'time';
    const answer = isOver ? 'ok' : this.apply(made);
    for (let id = before + 1; id <= engine.lastOrderId; id += 1) {
      this.placed.set(orderId(id), { at, nth: id - before - 1 });
    }
    // A refused simulation verb is clearer as a command with its outcome.
    const plain = act !== null && act.kind !== 'call' && !isOver && answer !== 'ok';
    if (plain) this.commands.splice(waitUs > 0 ? -2 : -1, 2, command);
    this.steps.push({
      act: plain ? null : act,
      command: plain ? command : made,
      waitUs: options.readable ? waitUs : 0,
      answer,
      savedAs: null,
    });
  }

  finish(): Pick<Reproduction, 'steps' | 'commands'> {
    const steps = this.steps.map((step, at) =>
      this.referred.has(at) ? { ...step, savedAs: nameOf(at) } : step,
    );
    return { steps, commands: this.commands };
  }

  /** The request, if it makes the same command; else null. */
  private actOf(command: Command): RequestForm | null {
    if (!this.isSound) return null;
    const named: number[] = [];
    const act = actOf(command, this.engine, (id) => this.reference(id, named));
    switch (act.kind) {
      case 'notExpressible':
        return null;
      case 'tape':
        return this.options.tape &&
          fitsRequest(command, this.maxTicks(act.fields['symbol'])) &&
          isInRequestOrder(command)
          ? act
          : null;
      case 'call': {
        // A scenario has no keys of these accounts.
        if (this.isSystem(act.account) || this.isSystem(act.signer)) return null;
        const digests = actOf(command, this.engine, (id) => this.digestOf(id));
        const made = commandOfRequest(this.gateway, this.engine, digests, command.timeUs);
        if (made === null || textOf(made) !== textOf(command)) return null;
        for (const at of named) this.referred.add(at);
        return act;
      }
      case 'money': {
        const { account } = act.fields;
        const isOpen = account === this.engine.config.insuranceAccount || !this.isSystem(account);
        return isOpen ? act : null;
      }
      case 'price':
        return isOnGrid(command, this.maxTicks(act.symbol)) ? act : null;
      case 'time':
        return act;
    }
  }

  private isSystem(account: string): boolean {
    const { clsAccount, insuranceAccount, treasuryAccount, shortfallAccount } = this.engine.config;
    const system: readonly string[] = [
      clsAccount,
      insuranceAccount,
      treasuryAccount,
      shortfallAccount,
    ];
    return system.includes(account);
  }

  /** The max price at the opening, by which requests are read; 0 if the market is not of it. */
  private maxTicks(symbol: unknown): number {
    return typeof symbol === 'string' ? (this.maxPrices.get(symbol) ?? 0) : 0;
  }

  /** Null if no reply of a request has the order. */
  private reference(id: OrderId, named: number[]): string | null {
    const source = this.placed.get(id);
    const act = source === undefined ? null : (this.steps[source.at]?.act ?? null);
    const digest = this.digestOf(id);
    if (source === undefined || act?.kind !== 'call' || digest === null) return null;
    named.push(source.at);
    return this.options.reference({ act, name: nameOf(source.at), nth: source.nth, digest });
  }

  private digestOf(id: OrderId): string | null {
    const order = this.engine.order(id);
    return order === undefined ? null : this.ids.digestOf(order);
  }

  private apply(command: Command): 'ok' | RefusalCode | null {
    this.commands.push(command);
    try {
      this.engine.apply(command);
    } catch {
      // The failure itself: nothing follows that could be expressed as a request.
      this.isSound = false;
    }
    try {
      return this.oracle.apply(command);
    } catch {
      return null;
    }
  }
}

/** Requests have rates from −1 to 1. */
const MAX_RATE_PPB = 1_000_000_000;

const nameOf = (at: number): string => `step${String(at + 1)}`;

/** The command of a step with a request: an index price has the text of the request. */
function commandOf(command: Command, act: RequestForm): Command {
  return command.kind === 'setIndex' && act.kind === 'price'
    ? { ...command, text: act.value }
    : command;
}

/** Whether requests accept the prices and sizes of recorded history. */
function fitsRequest(command: Command, maxTicks: number): boolean {
  if (maxTicks === 0) return false;
  if ('levels' in command) return command.levels.every((level) => figuresFit(level, maxTicks));
  // The sign of a trade's size is the side of its taker.
  return command.kind === 'tapeTrade'
    ? figuresFit({ ...command, lots: Math.abs(command.lots) }, maxTicks)
    : figuresFit(command, maxTicks);
}

function figuresFit(fields: object, maxTicks: number): boolean {
  return Object.entries(fields).every(([name, value]) => {
    if (typeof value !== 'number') return true;
    const isPrice = name.endsWith('Ticks') && name !== 'spreadTicks';
    return isPrice ? value >= 1 && value <= maxTicks : value >= 0;
  });
}

/** A request lists all bids before all asks. Where recorded levels cross, their order matters. */
function isInRequestOrder(command: Command): boolean {
  if (!('levels' in command)) return true;
  const firstAsk = command.levels.findIndex(({ side }) => side === 'ask');
  return firstAsk < 0 || command.levels.slice(firstAsk).every(({ side }) => side === 'ask');
}

/** Scenarios and the server accept prices of the market's orders only. */
function isOnGrid(command: Command, maxTicks: number): boolean {
  if (command.kind === 'settleFunding')
    return maxTicks > 0 && Math.abs(command.ratePpb) <= MAX_RATE_PPB;
  if (command.kind !== 'setIndex' && command.kind !== 'setMark') return true;
  return command.priceTicks >= 1 && command.priceTicks <= maxTicks;
}
