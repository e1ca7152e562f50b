/** Summary of a campaign on the terminal. */
import { countText } from '../../base/count-text.ts';
import { ownStates } from '../../fuzz/campaign.ts';
import { print } from '../cli-support.ts';
import type { CampaignState } from './campaign-state.ts';

export function printSummary(state: CampaignState, workers: number): void {
  const summary = state.summary();
  const never = summary['statesNeverReached'] as { name: string; rule: string; says: string }[];
  const refusals = summary['neverReached'] as string[];
  // Runs elsewhere have no seconds: time is not a result of theirs.
  const rate =
    state.seconds > 0
      ? ` in ${state.seconds.toFixed(1)} s: ${Number(summary['commandsPerSecond']).toLocaleString('en')}/s on ${countText(workers, 'worker')}`
      : ' on workers elsewhere';
  print(
    `runs        ${String(state.runs)}, ${state.commands.toLocaleString('en')} command${state.commands === 1 ? '' : 's'}${rate}`,
  );
  print(
    `states      ${String(summary['statesReached'])} of ${String(never.length + Number(summary['statesReached']))} reached`,
  );
  for (const { name, rule, says } of never) print(`  never     ${name}: ${says} (${rule})`);
  const own = ownStates(state.counts);
  const missing = own.filter(([, count]) => count === 0);
  if (own.length > 0) {
    const reached = own.length - missing.length;
    print(`own states  ${String(reached)} of ${String(own.length)} reached`);
  }
  for (const [name] of missing) print(`  never     ${name} (--states)`);
  print(
    `coverage    ${String(Object.keys(state.counts).length)} kinds of events, refusals and commands`,
  );
  for (const what of refusals) print(`  never     ${what}`);
  print(
    state.failures.length === 0
      ? 'all checks pass'
      : `${countText(state.failures.length, 'run')} FAILED`,
  );
}
