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

/** The same options search the same, however many plans at a time. */
export class CoalitionSearch {
  /** Plans tried, and arenas entered. */
  plans = 0;
  arenas = 0;
  best: Find | null = null;
  private readonly options: SearchOptions;
  private readonly work: Generator<void>;

  constructor(options: SearchOptions) {
    this.options = options;
    this.work = this.climbForEver();
  }

  /** Whether a plan was found that is worth something. */
  get found(): boolean {
    return (this.best?.worth ?? 0n) > 0n;
  }

  /** Tries up to so many plans more; fewer when one is worth something. */
  search(plans: number): void {
    for (let i = 0; i < plans && !this.found; i++) this.work.next();
  }

  private *climbForEver(): Generator<void> {
    const { seed, kinds } = this.options;
    for (;;) {
      const kind = kinds[this.arenas % kinds.length] ?? 'still';
      const arena = makeArena(kind, `${seed}-${String(this.arenas)}`);
      const dice = Dice.of(seed, `plans ${String(this.arenas)}`);
      this.arenas += 1;
      for (let i = 0; i < CLIMBS; i++) yield* this.climb(arena, dice, i % 2 === 0 ? 0n : SLACK);
    }
  }

  private *climb(arena: Arena, dice: Dice, slack: bigint): Generator<void> {
    let plan: Plan = [];
    // The best of this climb; the plan itself may be worth a little less.
    let worth = this.rate(arena, plan);
    yield;
    for (let i = 0; i < DRAWS; i++) {
      const drawn = drawPlan(dice);
      const value = this.rate(arena, drawn);
      yield;
      if (value < worth - slack) continue;
      plan = drawn;
      worth = value > worth ? value : worth;
    }
    for (let idle = 0; idle < PATIENCE; idle++) {
      const next = changePlan(dice, plan);
      const value = this.rate(arena, next);
      yield;
      // What costs nothing, or next to nothing, is taken, too: it may be the half of something.
      if (value < worth - slack) continue;
      plan = next;
      if (value <= worth) continue;
      idle = 0;
      worth = value;
    }
  }

  private rate(arena: Arena, plan: Plan): bigint {
    const worth = worthOf(arena, plan);
    this.plans += 1;
    if (this.best === null || worth > this.best.worth) {
      this.best = { arena, plan, worth, after: this.plans };
    }
    return worth;
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
