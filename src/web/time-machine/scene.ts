/** Everything that the page shows of one instant, as plain data for a message. */
import type { Instant } from '../../time-machine/timeline.ts';
import { instantView, orderView, type InstantView } from '../../time-machine/views/instant-view.ts';
import type { OrderAt } from '../../time-machine/views/order-at.ts';

export interface SceneOptions {
  readonly market: number;
  /** The account in focus; null: that of the command. */
  readonly focus: number | null;
  /** The selected order. */
  readonly order: number | null;
  /** True to list the accounts, which takes the margin of each of them. */
  readonly accounts: boolean;
}

export interface Scene extends InstantView {
  /** Null if none is selected, or it is not known at this instant. */
  readonly order: OrderAt | null;
}

const LEVELS = 9;

export function sceneOf(instant: Instant, { market, focus, order, accounts }: SceneOptions): Scene {
  const view = instantView(instant, {
    market,
    levels: LEVELS,
    ...(accounts ? {} : { accounts: 0 }),
    ...(focus === null ? {} : { subaccount: focus }),
  });
  return {
    ...view,
    order: order === null ? null : orderView(instant, order),
  };
}
