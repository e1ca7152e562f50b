/** Worker thread of `orrery exhaust`: expands batches of states. */
import workerpool from 'workerpool';
import {
  Expander,
  type Batch,
  type ExhaustPlan,
  type Expansion,
} from '../../fuzz/exhaust/expand.ts';

let expander: Expander | null = null;

/** A thread serves one plan. */
function expand(plan: ExhaustPlan, batch: Batch): Expansion {
  expander ??= new Expander(plan);
  return expander.expand(batch);
}

workerpool.worker({ expand });
