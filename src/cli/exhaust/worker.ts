/** Worker thread of exhaustive searches: expands batches of states. */
import workerpool from 'workerpool';
import { expansionsOf, type ExpansionTask } from '../../campaigns/exhaust-jobs.ts';
import type { IsSameBytes } from '../../fuzz/exhaust/checkpoint.ts';
import {
  Expander,
  type Batch,
  type ExhaustPlan,
  type Expansion,
} from '../../fuzz/exhaust/expand.ts';

const isSameBytes: IsSameBytes = (a, b) => Buffer.compare(a, b) === 0;

let expander: Expander | null = null;
/** JSON of the expander's plan. */
let planned = '';

/** A thread of `orrery exhaust` serves one plan, one of a worker those of several campaigns. */
function expanderOf(plan: ExhaustPlan): Expander {
  const text = JSON.stringify(plan);
  if (expander === null || planned !== text) expander = new Expander(plan, isSameBytes);
  planned = text;
  return expander;
}

function expand(plan: ExhaustPlan, batch: Batch): Expansion {
  return expanderOf(plan).expand(batch);
}

function expandJob(text: string): string {
  const task = JSON.parse(text) as ExpansionTask;
  return JSON.stringify(expansionsOf(expanderOf(task.plan), task));
}

workerpool.worker({ expand, expandJob });
