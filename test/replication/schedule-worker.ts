/** Child process of `run-schedules.ts`: runs the schedules of a range and sends what they did. */
import { runSchedule } from './sim-cluster.ts';

export interface Range {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

export interface RangeResult {
  readonly contradiction: string | null;
  readonly answered: number;
  readonly takeovers: number;
}

async function runRange({ from, to }: Range): Promise<RangeResult> {
  let [answered, takeovers] = [0, 0];
  for (let i = from; i < to; i++) {
    const result = await runSchedule(`s${i}`);
    answered += result.answered;
    takeovers += result.takeovers;
    if (result.contradiction === null) continue;
    return { contradiction: `schedule s${i}: ${result.contradiction}`, answered, takeovers };
  }
  return { contradiction: null, answered, takeovers };
}

process.on('message', (range: Range) => {
  void runRange(range).then((result) => process.send?.(result));
});
