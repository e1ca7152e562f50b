/**
 * Executes resampled futures of an instant and counts those that liquidate an account. A part of
 * the futures (`FuturesJob`) is plain data, so several threads share the work; the result does not
 * depend on how it is shared.
 */
import type { Command } from '../../engine/commands.ts';
import { Exchange } from '../../engine/exchange.ts';
import type { SubaccountId } from '../../num/units.ts';
import { RandomStreams } from '../../virtual-time/rng.ts';
import { Checkpoint } from './checkpoint.ts';
import { resampledFuture } from './future.ts';
import type { PriceMoves } from './price-moves.ts';

export interface FutureSettings {
  readonly subaccount: SubaccountId;
  /** Price moves of each future. */
  readonly horizon: number;
  readonly seed: string;
}

export interface FuturesJob {
  /** The instant: after this command. */
  readonly seq: number;
  /** Snapshot for prices, and reference prices of the instant. */
  readonly state: Uint8Array;
  readonly prices: readonly (number | null)[];
  /** Numbers of the futures: from `first` up to, not including, `end`. */
  readonly first: number;
  readonly end: number;
}

/** The exchange at an instant, which each future takes back to it. */
interface Start {
  readonly seq: number;
  readonly engine: Exchange;
  readonly checkpoint: Checkpoint;
}

export class FutureRuns {
  private readonly moves: PriceMoves;
  private readonly settings: FutureSettings;
  private start: Start | null = null;

  constructor(moves: PriceMoves, settings: FutureSettings) {
    this.moves = moves;
    this.settings = settings;
  }

  /** The number of futures that liquidate the account. */
  run(job: FuturesJob): number {
    const { prices, first, end } = job;
    const { subaccount, horizon, seed } = this.settings;
    const { engine, checkpoint } = this.startOf(job);
    let liquidated = 0;
    for (let i = first; i < end; i++) {
      // The same futures at every instant: their difference is the state.
      const random = new RandomStreams(seed).stream(`future ${String(i)}`);
      const commands = resampledFuture(this.moves, horizon, engine.nowUs, prices, random);
      try {
        if (isLiquidated(engine, subaccount, commands)) liquidated += 1;
      } finally {
        checkpoint.rewind();
      }
    }
    return liquidated;
  }

  /** Parts of one instant share its exchange. */
  private startOf({ seq, state }: FuturesJob): Start {
    if (this.start?.seq === seq) return this.start;
    const engine = Exchange.restore(state);
    this.start = { seq, engine, checkpoint: new Checkpoint(engine) };
    return this.start;
  }
}

/** Applies commands until one of them liquidates the account. */
export function isLiquidated(
  engine: Exchange,
  subaccount: SubaccountId,
  commands: Iterable<Command>,
): boolean {
  let found = false as boolean;
  for (const command of commands) {
    engine.apply(command, (event) => {
      if (event.kind !== 'liquidationStep' || event.subaccount !== subaccount) return;
      if (event.step !== 'safe') found = true;
    });
    if (found) return true;
  }
  return false;
}
