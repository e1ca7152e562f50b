/**
 * Episodes of agents that another process decides for: each is a backtest, and each step a timer of
 * virtual time. An agent receives only what was delivered to it, and asks for a target position.
 */
import { createHash, type Hash } from 'node:crypto';
import { checkRunNames, planOptions, type RunOptions } from '../../library/backtest/options.ts';
import { executePlan } from '../../run-plan/plan.ts';
import { TapeMemory } from '../../run-plan/tape-memory.ts';
import { defineStrategy, type StrategyDefinition } from '../../strategy/definition.ts';
import type { BarUpdate, BookUpdate, Strategy, StrategyContext } from '../../strategy/strategy.ts';
import { BridgeError, type Message, type Wire } from './wire.ts';

/** Figures of an observation, in their order. Sizes and prices are 0 while unknown. */
export const OBSERVATION = [
  ...(['bid', 'ask', 'bid_size', 'ask_size'] as const),
  ...(['open', 'high', 'low', 'close', 'volume'] as const),
  ...(['position', 'equity'] as const),
] as const;

export interface EnvironmentRequest {
  readonly options: RunOptions;
  /** Names of the agents, each with its own account. */
  readonly agents: readonly string[];
  /** Length of a step, µs. */
  readonly stepUs: number;
  /** Position of an action of 1, in units of the base. */
  readonly maxPosition: number;
}

const MAX_AGENTS = 64;

/** Throws `BridgeError`. */
export function environmentRequest(message: Message): EnvironmentRequest {
  const { options = {}, agents = ['agent'], stepUs, maxPosition } = message;
  const isName = (name: unknown): boolean =>
    typeof name === 'string' && /^\w[\w-]{0,39}$/.test(name);
  if (
    !Array.isArray(agents) ||
    agents.length === 0 ||
    agents.length > MAX_AGENTS ||
    !agents.every(isName) ||
    new Set(agents).size !== agents.length
  ) {
    throw new BridgeError(`agents: must be 1 to ${String(MAX_AGENTS)} different names`);
  }
  if (!Number.isInteger(stepUs) || Number(stepUs) < 1) {
    throw new BridgeError('stepUs: must be a whole number of microseconds above 0');
  }
  if (typeof maxPosition !== 'number' || !(maxPosition > 0) || maxPosition === Infinity) {
    throw new BridgeError('maxPosition: must be a number above 0');
  }
  if (typeof options !== 'object' || options === null) {
    throw new BridgeError('options: must be an object');
  }
  checkRunNames(options, []);
  return {
    options: options,
    agents: agents as string[],
    stepUs: Number(stepUs),
    maxPosition,
  };
}

/** Ends an episode from inside its run. */
class EpisodeOver extends Error {}

export class Environment {
  private readonly wire: Wire;
  private readonly request: EnvironmentRequest;
  private readonly tapes = new TapeMemory();
  private agents: Agent[] = [];
  private hash: Hash = createHash('sha256');
  /** The message that ended the last episode, which is a reset; null at the end of the input. */
  private next: Message | null;

  constructor(wire: Wire, request: EnvironmentRequest) {
    this.wire = wire;
    this.request = request;
    wire.send({ ready: OBSERVATION, agents: request.agents });
    this.next = wire.receive();
  }

  /** Runs episodes until the input ends. */
  async serve(): Promise<void> {
    while (this.next !== null) {
      const reset = this.next;
      mustBeReset(reset);
      try {
        await this.episode(reset);
      } catch (error) {
        if (!isOver(error)) throw error;
      }
    }
  }

  private async episode({ reset, from, to }: Message): Promise<void> {
    const { options, agents: names } = this.request;
    this.hash = createHash('sha256');
    this.agents = [];
    const own = {
      ...options,
      seed: String(reset),
      ...(from === undefined || from === null ? {} : { from: from as number }),
      ...(to === undefined || to === null ? {} : { to: to as number }),
    };
    const { plan, definitions } = await planOptions(
      own,
      names.map((id) => ({ strategy: this.definition(), id })),
    );
    const { output } = await executePlan(
      { ...plan, sampleUs: plan.sampleUs ?? 3_600_000_000 },
      { definitions, tapes: this.tapes },
    );
    const last = output.strategies.map(({ summary }) => Number(summary.equityEnd));
    const rewards = this.agents.map((agent, i) => agent.reward(last[i] ?? NaN));
    const trajectory = this.hash.update(output.chainHash).digest('hex');
    this.wire.send({
      o: this.agents.map((agent, i) => agent.observe(last[i] ?? NaN)),
      r: rewards,
      t: output.lastUs,
      d: 1,
      chainHash: output.chainHash,
      trajectory,
    });
    this.next = this.wire.receive();
    if (this.next !== null && 'a' in this.next) {
      throw new BridgeError('the episode is over: reset it');
    }
  }

  private definition(): StrategyDefinition {
    const { stepUs, maxPosition } = this.request;
    return defineStrategy({
      name: 'agent',
      parameters: {},
      keeps: { equity: true },
      barsUs: () => [stepUs],
      create: () => {
        const agent = new Agent(stepUs, maxPosition, (context) => {
          this.ring(agent, context);
        });
        this.agents.push(agent);
        return agent;
      },
    });
  }

  /** Agents ring in their order at each step; the last one exchanges the messages of all. */
  private ring(agent: Agent, context: StrategyContext): void {
    if (agent !== this.agents.at(-1)) return;
    const observations = this.agents.map((each) => each.observe(each.equity));
    const rewards = this.agents.map((each) => each.reward(each.equity));
    const sent = JSON.stringify({ o: observations, r: rewards, t: context.now() });
    this.wire.sendText(sent);
    const answer = this.wire.receive();
    if (answer === null || !('a' in answer)) {
      this.next = answer;
      throw new EpisodeOver();
    }
    const actions = actionsOf(answer['a'], this.agents.length);
    this.hash.update(`[${sent},${JSON.stringify(actions)}]`);
    this.agents.forEach((each, i) => {
      each.aim(actions[i] ?? 0);
    });
  }
}

function mustBeReset(message: Message): void {
  if (!('reset' in message)) throw new BridgeError("a message must have 'reset' or 'a'");
  const seed = message['reset'];
  if (typeof seed === 'string' || typeof seed === 'number') return;
  throw new BridgeError('reset: must be a seed, text or a number');
}

function isOver(error: unknown): boolean {
  for (let link = error; link instanceof Error; link = link.cause) {
    if (link instanceof EpisodeOver) return true;
  }
  return false;
}

function actionsOf(given: unknown, count: number): readonly number[] {
  const isAction = (action: unknown): boolean =>
    typeof action === 'number' && action >= -1 && action <= 1;
  if (Array.isArray(given) && given.length === count && given.every(isAction)) {
    return given as number[];
  }
  throw new BridgeError(`a: must be ${String(count)} numbers from -1 to 1`);
}

class Agent implements Strategy {
  private readonly stepUs: number;
  private readonly maxPosition: number;
  private readonly rings: (context: StrategyContext) => void;
  private context: StrategyContext | null = null;
  private book: BookUpdate | null = null;
  private bar: BarUpdate | null = null;
  private position = 0;
  /** Size of the orders without a reply, signed. */
  private inFlight = 0;
  private lastEquity = NaN;

  constructor(stepUs: number, maxPosition: number, rings: (context: StrategyContext) => void) {
    this.stepUs = stepUs;
    this.maxPosition = maxPosition;
    this.rings = rings;
  }

  onStart(context: StrategyContext): void {
    this.context = context;
    context.setTimer('step', this.stepUs);
  }

  onBook(book: BookUpdate): void {
    if (book.symbol === this.context?.symbol) this.book = book;
  }

  onBar(bar: BarUpdate): void {
    if (bar.symbol === this.context?.symbol) this.bar = bar;
  }

  onFill({ symbol, position }: { readonly symbol: string; readonly position: string }): void {
    if (symbol === this.context?.symbol) this.position = Number(position);
  }

  onTimer(name: string, context: StrategyContext): void {
    context.setTimer(name, this.stepUs);
    if (!context.warmingUp) this.rings(context);
  }

  get equity(): number {
    return this.context?.equity() ?? NaN;
  }

  /** Change of equity since the last call; 0 in the first. */
  reward(equity: number): number {
    const change = Number.isNaN(this.lastEquity) ? 0 : equity - this.lastEquity;
    if (!Number.isNaN(equity)) this.lastEquity = equity;
    return Number.isNaN(change) ? 0 : change;
  }

  observe(equity: number): readonly number[] {
    const { book, bar } = this;
    return [
      Number(book?.bid?.price ?? 0),
      Number(book?.ask?.price ?? 0),
      Number(book?.bid?.size ?? 0),
      Number(book?.ask?.size ?? 0),
      bar?.open ?? 0,
      bar?.high ?? 0,
      bar?.low ?? 0,
      bar?.close ?? 0,
      bar?.volume ?? 0,
      this.position,
      Number.isNaN(equity) ? 0 : equity,
    ];
  }

  /** Orders the difference to a target position as a taker. */
  aim(action: number): void {
    const { context } = this;
    if (context === null) return;
    const market = context.market();
    const change = action * this.maxPosition - this.position - this.inFlight;
    const size = market.size(Math.abs(change), 'nearest');
    const lots = Number(size);
    if (lots < Number(market.minQuantity) || lots === 0) return;
    const signed = change > 0 ? lots : -lots;
    this.inFlight += signed;
    const landed = (): void => {
      this.inFlight -= signed;
    };
    context.submit({ side: change > 0 ? 'buy' : 'sell', size }).then(landed, landed);
  }
}
