/**
 * Economic fuzzing: a seeded search for a coalition that ends richer at the expense of others. It climbs: from the best of some random
 * plans to ever better neighbours, and starts again in the next arena when it gets no further.
 */
import { Dice } from '../dice.ts';
import { makeGame, type AnyPlan, type Game, type GameKind, type Rating } from './game.ts';

export interface SearchOptions {
  readonly seed: string;
  readonly kinds: readonly GameKind[];
}

/** The best plan of a search, whatever it is worth. */
export interface Find {
  readonly arena: Game;
  readonly plan: AnyPlan;
  /** Quanta for free: more than 0 is a hole in the exchange. */
  readonly worth: bigint;
  /** Plans tried until it was found. */
  readonly after: number;
}

/** Plans drawn before a climb, neighbours tried without progress before it ends, climbs in one arena. */
interface Effort {
  readonly draws: number;
  readonly patience: number;
  readonly climbs: number;
  /** What a step may cost in every second climb: dust is gained by first losing some. */
  readonly slack: number;
}
const EFFORTS: Readonly<Record<GameKind, Effort>> = {
  still: { draws: 60, patience: 120, climbs: 2, slack: 20 },
  walk: { draws: 60, patience: 120, climbs: 2, slack: 20 },
  crisis: { draws: 60, patience: 40, climbs: 1, slack: 0 },
};

/** What a plan gains for free. */
export function worthOf(arena: Game, plan: AnyPlan): bigint {
  return arena.rate(plan).worth;
}

/** A plan that was better than all before it in its arena, after so many. */
export interface Improvement {
  readonly plan: AnyPlan;
  readonly worth: bigint;
  readonly after: number;
}

/** The outcome of one arena; plain data, so that arenas can be searched side by side. */
export interface ArenaResult {
  readonly arena: number;
  readonly plans: number;
  readonly improvements: readonly Improvement[];
  /** The same for what insurance paid the coalition within. */
  readonly insurance: readonly Improvement[];
}

/** The nth arena of a search: its kinds take turns. */
export function arenaOf({ seed, kinds }: SearchOptions, n: number): Game {
  return makeGame(kinds[n % kinds.length] ?? 'still', `${seed}-${String(n)}`);
}

/** Searches one arena alone, until its climbs are over, a plan is worth something, or `most` plans were tried. */
export function searchArena(options: SearchOptions, n: number, most = Infinity): ArenaResult {
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
  while (plans < most && (improvements.at(-1)?.worth ?? 0n) <= 0n) {
    if (climbs.next().done === true) break;
  }
  return { arena: n, plans, improvements, insurance };
}

function keepBest(list: Improvement[], plan: AnyPlan, worth: bigint, after: number): void {
  const best = list.at(-1);
  if (best === undefined || worth > best.worth) list.push({ plan, worth, after });
}

/**
 * The search of arena after arena, up to `most` plans or to one that is worth something. Its outcome does not depend on how many
 * arenas are searched side by side: results are taken in arena order (`add`), and plans beyond the limit do not count.
 */
export class CoalitionSearch {
  /** Plans tried, and arenas entered. */
  plans = 0;
  arenas = 0;
  best: Find | null = null;
  /** The plan that insurance paid most for. */
  insured: Find | null = null;
  private readonly options: SearchOptions;
  private readonly most: number;
  private readonly waiting = new Map<number, ArenaResult>();

  constructor(options: SearchOptions, most: number) {
    this.options = options;
    this.most = most;
  }

  /** Whether a plan was found that is worth something. */
  get found(): boolean {
    return (this.best?.worth ?? 0n) > 0n;
  }

  get isOver(): boolean {
    return this.found || this.plans >= this.most;
  }

  /** Takes in the result of an arena once all before it are there. */
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
    this.plans += Math.min(plans, this.most - this.plans);
  }

  private better(best: Find | null, arena: number, list: readonly Improvement[]): Find | null {
    const room = this.most - this.plans;
    let found = best;
    for (const { plan, worth, after } of list) {
      if (after > room || (found !== null && worth <= found.worth)) continue;
      found = { arena: arenaOf(this.options, arena), plan, worth, after: this.plans + after };
    }
    return found;
  }

  /** In this thread, one arena after the other. */
  run(): this {
    while (!this.isOver) {
      this.add(searchArena(this.options, this.arenas, this.most - this.plans));
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
  // The best score of this climb; the plan itself may have a little less.
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
    // A step that costs nothing, or next to nothing, is taken, too: it may be half of a gain.
    if (score < best - slack) continue;
    plan = next;
    if (score <= best) continue;
    idle = 0;
    best = score;
  }
}

/** Leaves out moves as long as the rest is still worth something: what a find needs. */
export function shortest({ arena, plan, worth }: Find): AnyPlan {
  if (worth <= 0n) return plan;
  for (let i = 0; i < plan.length; i++) {
    const shorter = plan.filter((_, j) => j !== i) as AnyPlan;
    const left = worthOf(arena, shorter);
    if (left > 0n) return shortest({ arena, plan: shorter, worth: left, after: 0 });
  }
  return plan;
}
