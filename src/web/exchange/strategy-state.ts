/** The strategy that trades beside people (`orrery serve --strategy`), read once a second. */
import { computed, effect, signal } from '@preact/signals';
import type { Fill } from './account-history.ts';
import type { Position, Stats } from './account-state.ts';
import type { Order } from './order-list.ts';
import { feedState } from './feeds.ts';
import { replay } from './replay-state.ts';
import { ask, isLasting } from './requests.ts';
import { simToken } from './session.ts';

export interface StrategyState {
  readonly name: string;
  readonly account: string;
  readonly state: 'starting' | 'running' | 'ended' | 'failed';
  readonly message: string;
  readonly log: readonly string[];
  readonly stats: Stats | null;
  readonly positions: readonly Position[];
  readonly orders: readonly Order[];
  readonly fills: readonly Fill[];
}

const READ_MS = 1000;

/** null: this server has none, or its simulation token is not entered. */
export const strategy = signal<StrategyState | null>(null);

/** False if there is none. */
async function read(token: string): Promise<boolean> {
  try {
    const { body } = await ask<StrategyState>('GET', '/sim/strategy', { token });
    if (simToken.peek() === token) strategy.value = body;
  } catch (error) {
    if (!isLasting(error)) return true;
    if (simToken.peek() === token) strategy.value = null;
    return false;
  }
  return true;
}

/** A server without a recording is not asked. */
const hasReplay = computed(() => replay.value !== null);
const isLive = computed(() => feedState.value === 'live');

/** Reads begin again with each connection: a server that restarts may refuse at first. */
export function followStrategy(): void {
  effect(() => {
    const token = hasReplay.value ? simToken.value : null;
    if (token === null) {
      strategy.value = null;
      return;
    }
    if (!isLive.value) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const next = async (): Promise<void> => {
      const isOn = await read(token);
      if (isOn && !isOver) timer = setTimeout(() => void next(), READ_MS);
    };
    void next();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  });
}
