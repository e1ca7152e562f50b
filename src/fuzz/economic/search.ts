/**
 * Economic fuzzing: a seeded search for a coalition that gains at the expense of others. It uses
 * hill climbing: starts from the best of some random plans, moves to better neighbours, and
 * restarts in the next arena when no neighbour improves.
 */
import { Dice } from '../dice.ts';
import { makeGame, type AnyPlan, type Game, type GameKind, type Rating } from './game.ts';

export interface SearchOptions {
  readonly seed: string;
  readonly kinds: readonly GameKind[];
}

/** Best plan of a search. */
export interface Find {
  readonly arena: Game;
  readonly plan: AnyPlan;
  /** Free money in Quanta; more than 0 is a defect of the exchange. */
  readonly worth: bigint;
  /** Number of plans tried until then. */
  readonly after: number;
}

/** Random plans before a climb, failed neighbours before it ends, and climbs per arena. */
interface Effort {
  readonly draws: number;
  readonly patience: number;
  readonly climbs: number;
  /** Score that every second climb may lose per step: small gains can require a temporary loss. */
  readonly slack: number;
}
const EFFORTS: Readonly<Record<GameKind, Effort>> = {
  still: { draws: 60, patience: 120, climbs: 2, slack: 20 },
  walk: { draws: 60, patience: 120, climbs: 2, slack: 20 },
  crisis: { draws: 60, patience: 40, climbs: 1, slack: 0 },
};

/** Plans that a climb tries in every arena, unless one has a positive worth. */
export function leastPlans({ kinds }: SearchOptions): number {
  return Math.min(
    ...kinds.map((kind) => {
      const { draws, patience, climbs } = EFFORTS[kind];
      return climbs * (1 + draws + patience);
    }),
  );
}

/** Free money of a plan. */
export function worthOf(arena: Game, plan: AnyPlan): bigint {
  return arena.rate(plan).worth;
}

/** A plan with a higher worth than all before it in its arena, and their number. */
export interface Improvement {
  readonly plan: AnyPlan;
  readonly worth: bigint;
  readonly after: number;
}

/** Result of one arena as plain data, so that arenas can be searched in parallel. */
export interface ArenaResult {
  readonly arena: number;
  readonly plans: number;
  readonly improvements: readonly Improvement[];
  /** Improvements by insurance payments to the coalition within. */
  readonly insurance: readonly Improvement[];
}

/** The nth arena of a search; rotates through its kinds. */
export function arenaOf({ seed, kinds }: SearchOptions, n: number): Game {
  return makeGame(kinds[n % kinds.length] ?? 'still', `${seed}-${String(n)}`);
}

/**
 * Searches one arena until its climbs end, a plan has a positive worth, or `max` plans were tried.
 */
export function searchArena(options: SearchOptions, n: number, max = Infinity): ArenaResult {
  const arena = arenaOf(options, n);
  const improvements: Improvement[] = [];
  const insurance: Improvement[] = [];
  let plans = 0;
  const rate = (plan: AnyPlan): Rating => {
    const rating = arena.rate(plan);
    plans += 1;
    keepBest(improvements, plan, rating.worth, plans);
    if (rating.fromInsurance > 0n) keepBest(insurance, plan, rating.fromInsurance, plans);
    return rating;
  };
  const climbs = climbArena(arena, Dice.of(options.seed, `plans ${String(n)}`), rate);
  while (plans < max && (improvements.at(-1)?.worth ?? 0n) <= 0n) {
    if (climbs.next().done === true) break;
  }
  return { arena: n, plans, improvements, insurance };
}

function keepBest(list: Improvement[], plan: AnyPlan, worth: bigint, after: number): void {
  const best = list.at(-1);
  if (best === undefined || worth > best.worth) list.push({ plan, worth, after });
}

/**
 * Searches arenas in order, up to `max` plans or a plan with positive worth. Results are merged in
 * arena order (`add`), so the outcome does not depend on parallelism.
 */
export class CoalitionSearch {
  /** Number of plans tried and of arenas entered. */
  plans = 0;
  arenas = 0;
  best: Find | null = null;
  /** The plan with the largest insurance payment. */
  insured: Find | null = null;
  private readonly options: SearchOptions;
  private readonly max: number;
  private readonly waiting = new Map<number, ArenaResult>();

  constructor(options: SearchOptions, max: number) {
    this.options = options;
    this.max = max;
  }

  /** True if a plan with positive worth was found. */
  get found(): boolean {
    return (this.best?.worth ?? 0n) > 0n;
  }

  get isOver(): boolean {
    return this.found || this.plans >= this.max;
  }

  /** Merges an arena's result once all earlier ones are present. */
  add(result: ArenaResult): void {
    this.waiting.set(result.arena, result);
    for (let next = this.waiting.get(this.arenas); next !== undefined && !this.isOver;) {
      this.waiting.delete(this.arenas);
      this.take(next);
      next = this.waiting.get(this.arenas);
    }
  }

  private take({ arena, plans, improvements, insurance }: ArenaResult): void {
    this.best = this.better(this.best, arena, improvements);
    this.insured = this.better(this.insured, arena, insurance);
    this.arenas += 1;
    this.plans += Math.min(plans, this.max - this.plans);
  }

  private better(best: Find | null, arena: number, list: readonly Improvement[]): Find | null {
    const room = this.max - this.plans;
    let found = best;
    for (const { plan, worth, after } of list) {
      if (after > room || (found !== null && worth <= found.worth)) continue;
      found = { arena: arenaOf(this.options, arena), plan, worth, after: this.plans + after };
    }
    return found;
  }

  /** Runs in this thread, one arena after the other. */
  run(): this {
    while (!this.isOver) {
      this.add(searchArena(this.options, this.arenas, this.max - this.plans));
    }
    return this;
  }
}

type Rate = (plan: AnyPlan) => Rating;

function* climbArena(arena: Game, dice: Dice, rate: Rate): Generator<void> {
  const effort = EFFORTS[arena.kind];
  for (let i = 0; i < effort.climbs; i++) {
    yield* climb(arena, dice, rate, effort, i % 2 === 0 ? 0 : effort.slack);
  }
}

function* climb(
  arena: Game,
  dice: Dice,
  rate: Rate,
  { draws, patience }: Effort,
  slack: number,
): Generator<void> {
  let plan: AnyPlan = [];
  // Best score of this climb; the current plan may score slightly less.
  let best = rate(plan).score;
  yield;
  for (let i = 0; i < draws; i++) {
    const drawn = arena.draw(dice);
    const { score } = rate(drawn);
    yield;
    if (score < best - slack) continue;
    plan = drawn;
    best = Math.max(best, score);
  }
  for (let idle = 0; idle < patience; idle++) {
    const next = arena.change(dice, plan);
    const { score } = rate(next);
    yield;
    // Accepts a step without loss, or with a small one: it may be half of a gain.
    if (score < best - slack) continue;
    plan = next;
    if (score <= best) continue;
    idle = 0;
    best = score;
  }
}

/** Removes moves while the plan keeps a positive worth. */
export function shortest({ arena, plan, worth }: Find): AnyPlan {
  if (worth <= 0n) return plan;
  for (let i = 0; i < plan.length; i++) {
    const shorter = plan.filter((_, j) => j !== i) as AnyPlan;
    const left = worthOf(arena, shorter);
    if (left > 0n) return shortest({ arena, plan: shorter, worth: left, after: 0 });
  }
  return plan;
}
