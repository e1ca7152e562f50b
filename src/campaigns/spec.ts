/** A campaign as it is stored: plain data, from which any worker continues it. */
import type { CampaignPlan } from '../fuzz/campaign.ts';
import type { SearchOptions } from '../fuzz/economic/search.ts';
import type { ExhaustPlan } from '../fuzz/exhaust/expand.ts';
import type { Window } from '../search/samplers/windows.ts';
import type { SweepPlan } from '../search/sweep.ts';
import type { StrategyBundle } from '../strategy-loader/bundle.ts';
import { packed, unpacked, type InputPaths, type PackedPlan } from './inputs.ts';
import { identityOf } from './job-id.ts';

export type PackedSearch = Omit<SweepPlan, 'plan'> & { readonly plan: PackedPlan };

export interface SearchWork {
  readonly kind: 'sweep' | 'walkforward';
  readonly search: PackedSearch;
  readonly perYear: number;
  /** Of a sweep: whether the best trial is varied. */
  readonly robustness: boolean;
  /** Of a walk-forward analysis. */
  readonly windows: readonly Window[];
}

export interface FuzzWork {
  readonly kind: 'fuzz';
  readonly plan: CampaignPlan;
  readonly runs: number;
  /** Continues after failed runs; absent: ends with the first one. */
  readonly keepGoing?: boolean;
}

export interface EconomicWork {
  readonly kind: 'economic';
  readonly options: SearchOptions;
  readonly plans: number;
}

export interface ExhaustWork {
  readonly kind: 'exhaust';
  readonly plan: ExhaustPlan;
}

/** Work that reads no files. */
export type PlainWork = FuzzWork | EconomicWork | ExhaustWork;

export type Work = SearchWork | PlainWork;

export interface CampaignSpec {
  readonly work: Work;
  /** Options of the command line that submitted it, for its pages. */
  readonly args: Readonly<Record<string, unknown>>;
  /** References by the paths of the command line. */
  readonly paths: InputPaths;
}

export function campaignId(version: string, work: Work): string {
  return identityOf(version, 'campaign', work);
}

export function packedSearch(search: SweepPlan, paths: InputPaths): PackedSearch {
  return { ...search, plan: packed(search.plan, paths) };
}

/** The search with the paths of its command line. */
export async function unpackedSearch(
  search: PackedSearch,
  paths: InputPaths,
  bundleOf: (sha256: string) => Promise<StrategyBundle>,
): Promise<SweepPlan> {
  const names = new Map(Object.entries(paths).map(([path, reference]) => [reference, path]));
  const plan = await unpacked(search.plan, (name) => names.get(name) ?? name, bundleOf);
  return { ...search, plan };
}
