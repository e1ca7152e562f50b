/** Types shared by the indices of pending orders (§4). */
import type { OrderId } from '../../num/units.ts';

/** Whether an order is still pending in this index. */
export type Waits = (id: OrderId) => boolean;

/** An order whose price was reached, and that price. */
export interface Reached {
  readonly id: OrderId;
  readonly ticks: number;
}
