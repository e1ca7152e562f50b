/** Summary of a campaign on the terminal. */
import { print } from '../cli-support.ts';
import type { CampaignState } from './campaign-state.ts';

export function printSummary(state: CampaignState, workers: number): void {
  const summary = state.summary();
  const never = summary['statesNeverReached'] as { name: string; rule: string; says: string }[];
  const refusals = summary['neverReached'] as string[];
  print(
    `runs        ${String(state.runs)}, ${state.commands.toLocaleString('en')} commands in ${state.seconds.toFixed(1)} s: ` +
      `${Number(summary['commandsPerSecond']).toLocaleString('en')}/s on ${String(workers)} workers`,
  );
  print(
    `states      ${String(summary['statesReached'])} of ${String(never.length + Number(summary['statesReached']))} reached`,
  );
  for (const { name, rule, says } of never) print(`  never     ${name}: ${says} (${rule})`);
  print(
    `coverage    ${String(Object.keys(state.counts).length)} kinds of events, refusals and commands`,
  );
  for (const what of refusals) print(`  never     ${what}`);
  print(
    state.failures.length === 0
      ? 'all checks pass'
      : `${String(state.failures.length)} runs FAILED`,
  );
}
