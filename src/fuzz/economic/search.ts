/**
 * Economic fuzzing: a seeded search for a coalition that ends richer although nothing came from outside and nobody lost to it by a fair
 * trade. It climbs: from a random plan to ever better neighbours, and begins anew when it gets no further. In an arena whose
 * index walks a plan is worth its mean over all paths, which are fair: no plan that the exchange is right about gains on average.
 */
import { Dice } from '../dice.ts';
import { makeArena, type Arena, type ArenaKind } from './arena.ts';
import { changePlan, drawPlan, type Plan } from './plan.ts';
import { play } from './play.ts';

export interface SearchOptions {
  readonly seed: string;
  readonly kinds: readonly ArenaKind[];
}

/** The best plan of a search, whatever it is worth. */
export interface Find {
  readonly arena: Arena;
  readonly plan: Plan;
  /** Quanta for free, summed over the arena's paths: more than 0 is a hole in the exchange. */
  readonly worth: bigint;
  /** Plans tried until it was found. */
  readonly after: number;
}

/** Plans drawn, of which the best begins a climb; neighbours tried without getting further before it ends; climbs in one arena. */
const DRAWS = 60;
const PATIENCE = 120;
const CLIMBS = 2;
/** Quanta that a step may cost in every second climb: dust is gained by first losing some. */
const SLACK = 20n;

/** What a plan gains for free, summed over the paths of its arena. */
export function worthOf(arena: Arena, plan: Plan): bigint {
  return arena.paths.reduce((sum, path) => sum + play(arena, plan, path).forFree, 0n);
}

/** A plan that was better than all before it in its arena, after so many. */
export interface Improvement {
  readonly plan: Plan;
  readonly worth: bigint;
  readonly after: number;
}

/** What the search of one arena came to; plain data, for who searches arenas side by side. */
export interface ArenaResult {
  readonly arena: number;
  readonly plans: number;
  readonly improvements: readonly Improvement[];
}

/** The nth arena of a search: its kinds take turns. */
export function arenaOf({ seed, kinds }: SearchOptions, n: number): Arena {
  return makeArena(kinds[n % kinds.length] ?? 'still', `${seed}-${String(n)}`);
}

/** Searches one arena alone, until its climbs are over, a plan is worth something, or `most` plans were tried. */
export function searchArena(options: SearchOptions, n: number, most = Infinity): ArenaResult {
  const arena = arenaOf(options, n);
  const improvements: Improvement[] = [];
  let plans = 0;
  const rate = (plan: Plan): bigint => {
    const worth = worthOf(arena, plan);
    plans += 1;
    const best = improvements.at(-1);
    if (best === undefined || worth > best.worth) improvements.push({ plan, worth, after: plans });
    return worth;
  };
  const climbs = climbArena(options.seed, n, rate);
  while (plans < most && (improvements.at(-1)?.worth ?? 0n) <= 0n) {
    if (climbs.next().done === true) break;
  }
  return { arena: n, plans, improvements };
}

/**
 * The search of arena after arena, up to `most` plans or to one that is worth something. What comes of it does not depend on how many arenas are searched side
 * by side: their results are taken in their order (`add`), and what a search one by one would not have tried does not count.
 */
export class CoalitionSearch {
  /** Plans tried, and arenas entered. */
  plans = 0;
  arenas = 0;
  best: Find | null = null;
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

  private take({ arena, plans, improvements }: ArenaResult): void {
    const room = this.most - this.plans;
    for (const { plan, worth, after } of improvements) {
      if (after > room || worth <= (this.best?.worth ?? worth - 1n)) continue;
      this.best = { arena: arenaOf(this.options, arena), plan, worth, after: this.plans + after };
    }
    this.arenas += 1;
    this.plans += Math.min(plans, room);
  }

  /** In this thread, one arena after the other. */
  run(): this {
    while (!this.isOver) {
      this.add(searchArena(this.options, this.arenas, this.most - this.plans));
    }
    return this;
  }
}

type Rate = (plan: Plan) => bigint;

function* climbArena(seed: string, n: number, rate: Rate): Generator<void> {
  const dice = Dice.of(seed, `plans ${String(n)}`);
  for (let i = 0; i < CLIMBS; i++) yield* climb(dice, rate, i % 2 === 0 ? 0n : SLACK);
}

function* climb(dice: Dice, rate: Rate, slack: bigint): Generator<void> {
  let plan: Plan = [];
  // The best of this climb; the plan itself may be worth a little less.
  let worth = rate(plan);
  yield;
  for (let i = 0; i < DRAWS; i++) {
    const drawn = drawPlan(dice);
    const value = rate(drawn);
    yield;
    if (value < worth - slack) continue;
    plan = drawn;
    worth = value > worth ? value : worth;
  }
  for (let idle = 0; idle < PATIENCE; idle++) {
    const next = changePlan(dice, plan);
    const value = rate(next);
    yield;
    // What costs nothing, or next to nothing, is taken, too: it may be the half of something.
    if (value < worth - slack) continue;
    plan = next;
    if (value <= worth) continue;
    idle = 0;
    worth = value;
  }
}

/** Leaves out moves as long as what is left is still worth something: what is needed of a find. */
export function shortest({ arena, plan, worth }: Find): Plan {
  if (worth <= 0n) return plan;
  for (let i = 0; i < plan.length; i++) {
    const shorter = plan.filter((_, j) => j !== i);
    const left = worthOf(arena, shorter);
    if (left > 0n) return shortest({ arena, plan: shorter, worth: left, after: 0 });
  }
  return plan;
}
