/** What an index of waiting orders asks of who keeps them, and what it answers at a price (§4). */
import type { OrderId } from '../../num/units.ts';

/** Whether an order still waits for this. */
export type Waits = (id: OrderId) => boolean;

/** An order whose price was reached, and that price. */
export interface Reached {
  readonly id: OrderId;
  readonly ticks: number;
}
