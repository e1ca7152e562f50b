/** The recording that this server replays: where it is, and its pace. */
import { computed, signal } from '@preact/signals';
import { exchangeTime } from './markets.ts';
import { ask, isLasting } from './requests.ts';
import { simToken } from './session.ts';

export interface ReplayState {
  readonly dataset: string;
  readonly firstUs: number;
  readonly lastUs: number;
  readonly timeUs: number;
  /** null: the virtual clock moves it. */
  readonly speed: number | null;
  /** Of the system clock, or of the client that drives a virtual clock; null: unlimited. */
  readonly pace: number | null;
  /** A client, such as a strategy, moves the virtual clock. */
  readonly driven: boolean;
  readonly paused: boolean;
  readonly ended: boolean;
}

/** null: this server has no replay, or its token is not entered. */
export const replay = signal<ReplayState | null>(null);

/** Whether the bar sets the pace: otherwise the controls of the virtual clock move it. */
export const isPaced = computed(
  () => replay.value !== null && (replay.value.speed !== null || replay.value.driven),
);

/** False if there is none. */
export async function readReplay(): Promise<boolean> {
  if (simToken.value === null) return false;
  try {
    const { body } = await ask<ReplayState>('GET', '/sim/replay', { token: simToken.value });
    replay.value = body;
    if (body.speed === null) exchangeTime.value = { ms: body.timeUs / 1000, atMs: Date.now() };
  } catch (error) {
    if (!isLasting(error)) return true;
    replay.value = null;
    return false;
  }
  return true;
}
