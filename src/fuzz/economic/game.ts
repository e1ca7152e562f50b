/**
 * Interface between the search and a kind of arena: draw, mutate and rate plans. `still` and `walk`
 * are arenas of one market in which rounding counts. `crisis` is a world of three markets with
 * gaps, oracle outages, debts and withdrawals.
 */
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import type { Dice } from '../dice.ts';
import { makeArena, type Arena } from './arena.ts';
import { UNFAIR, type Finding } from './crisis/auditor.ts';
import {
  changeCrisisPlan,
  describeCrisisPlan,
  drawCrisisPlan,
  type CrisisPlan,
  type Terrain,
} from './crisis/moves.ts';
import { playCrisis } from './crisis/play-crisis.ts';
import { KEYS, makeWorld, type CrisisMarket, type CrisisWorld } from './crisis/crisis-world.ts';
import { changePlan, describePlan, drawPlan, type Plan } from './coalition-plan.ts';
import { play } from './play.ts';

export const GAME_KINDS = ['still', 'walk', 'crisis'] as const;
export type GameKind = (typeof GAME_KINDS)[number];

export interface Rating {
  /** Free money in Quanta; more than 0 is a defect of the exchange. */
  readonly worth: bigint;
  /** Objective of the hill climb. */
  readonly score: number;
  /** Gain of the coalition from insurance within. */
  readonly fromInsurance: bigint;
}

/** A plan in the moves of its game; only that game can play it. */
export type AnyPlan = Plan | CrisisPlan;

export interface Game {
  readonly kind: GameKind;
  readonly seed: string;
  readonly config: ExchangeConfig;
  readonly opening: readonly Command[];
  draw(dice: Dice): AnyPlan;
  change(dice: Dice, plan: AnyPlan): AnyPlan;
  rate(plan: AnyPlan): Rating;
  /** One line per move. */
  describe(plan: AnyPlan): string[];
  /** Figures that explain a finding; may be empty. */
  explain(plan: AnyPlan): string[];
  /** Commands of the plan, after the opening. */
  commandsOf(plan: AnyPlan): Command[];
}

/** The same kind and seed yield the same game. */
export function makeGame(kind: GameKind, seed: string): Game {
  return kind === 'crisis' ? crisisGame(makeWorld(seed)) : smallGame(makeArena(kind, seed));
}

function smallGame(arena: Arena): Game {
  return {
    kind: arena.kind,
    seed: arena.seed,
    config: arena.config,
    opening: arena.opening,
    draw: drawPlan,
    change: (dice, plan) => changePlan(dice, plan as Plan),
    rate: (plan) => {
      const worth = arena.paths.reduce(
        (sum, path) => sum + play(arena, plan as Plan, path).forFree,
        0n,
      );
      return { worth, score: Number(worth), fromInsurance: 0n };
    },
    describe: (plan) => describePlan(plan as Plan),
    explain: () => [],
    commandsOf: (plan) => {
      const commands: Command[] = [];
      play(arena, plan as Plan, arena.paths[0] ?? [], (command) => {
        commands.push(command);
      });
      return commands;
    },
  };
}

function crisisGame(world: CrisisWorld): Game {
  const { config, opening } = world.opened(0);
  const terrain = terrainOf(world);
  const names = world.coalition.map(({ name }) => name);
  return {
    kind: 'crisis',
    seed: world.seed,
    config,
    opening,
    draw: (dice) => drawCrisisPlan(dice, terrain),
    change: (dice, plan) => changeCrisisPlan(dice, plan as CrisisPlan, terrain),
    rate: (plan) => rateCrisis(world, plan as CrisisPlan),
    describe: (plan) => describeCrisisPlan(plan as CrisisPlan, names),
    explain: (plan) => explainFinding(playCrisis(world, plan as CrisisPlan)),
    commandsOf: (plan) => {
      const commands: Command[] = [];
      playCrisis(world, plan as CrisisPlan, 0, (command) => {
        commands.push(command);
      });
      return commands;
    },
  };
}

function terrainOf({ markets }: CrisisWorld): Terrain {
  const where = (suits: (market: CrisisMarket) => boolean): number[] =>
    markets.flatMap((market, m) => (suits(market) ? [m] : []));
  return {
    quiet: where(({ hasArbitrageur }) => !hasArbitrageur),
    wide: where(({ book }) => book === 'wide'),
  };
}

/** A finding must hold for every sampling secret: a plan may fit one secret by chance. */
function rateCrisis(world: CrisisWorld, plan: CrisisPlan): Rating {
  const found = playCrisis(world, plan);
  const { gain, insurance } = found;
  const fromInsurance = BigInt(Math.max(0, Math.floor(Math.min(gain, insurance))));
  if (found.free <= 0) {
    return { worth: BigInt(Math.ceil(found.free)), score: found.score, fromInsurance };
  }
  let sum = found.free;
  for (let key = 1; key < KEYS; key++) {
    const other = playCrisis(world, plan, key).free;
    if (other <= 0) return { worth: 0n, score: 0, fromInsurance };
    sum += other;
  }
  return { worth: BigInt(Math.floor(sum / KEYS)), score: found.score, fromInsurance };
}

function explainFinding(found: Finding): string[] {
  const dollars = (quanta: number): string => (quanta / 1_000_000).toFixed(2);
  return [
    `gain without price luck ${dollars(found.gain)}, paid by insurance ${dollars(found.insurance)}`,
    ...UNFAIR.filter((kind) => found.unfair[kind] > 0).map(
      (kind) => `unfair loss of others, ${kind}: ${dollars(found.unfair[kind])}`,
    ),
  ];
}
