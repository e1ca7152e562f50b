/** A scenario as plain data: output of `parseScenario` and input of `runScenario`. */
import type { EndpointId } from '../contract/endpoints.ts';
import type { TapeBar, TapeL3, TapeLevel } from '../engine/commands.ts';
import type { ExchangeConfig, MarketSpec, SelfTradeMode } from '../engine/config.ts';
import type { CheckName } from '../fuzz/checks/checks.ts';
import type {
  Address,
  DurationUs,
  Lots,
  MarketId,
  Ppb,
  PriceTicks,
  Quanta,
  TimeUs,
} from '../num/units.ts';
import type { MapNode, Place, SourceNode } from './source-node.ts';

export interface Scenario {
  /** File path, for messages. */
  readonly file: string;
  readonly title: string;
  /** Rules of the rulebook that it demonstrates, such as `R-2.5`. */
  readonly rules: readonly string[];
  readonly about: string;
  /** Determines where proof runs cut the journal. */
  readonly seed: number;
  /** `genesisTimeUs` is the scenario's start. */
  readonly config: ExchangeConfig;
  /** The index of a market is its id. */
  readonly markets: readonly MarketSpec[];
  readonly accounts: readonly AccountEntry[];
  readonly steps: readonly Step[];
  readonly expect: FinalExpectation;
}

export interface AccountEntry {
  readonly name: string;
  /** Null: that of the private key of the name. */
  readonly address: Address | null;
  /** Null for an account without cash at the start. */
  readonly deposit: Quanta | null;
  readonly subaccount: number;
  readonly selfTradeExpire: SelfTradeMode | null;
}

export interface Step {
  readonly place: Place;
  readonly path: string;
  readonly note: string | null;
  /** Time advance before the action. */
  readonly time: StepTime | null;
  /** Null: the step only advances time or only checks. */
  readonly action: Action | null;
  readonly expect: Expectation;
}

export type StepTime =
  | { readonly kind: 'wait'; readonly lengthUs: DurationUs }
  | { readonly kind: 'at'; readonly timeUs: TimeUs };

export type Action =
  | {
      readonly kind: 'call';
      readonly endpoint: EndpointId;
      /** Account name of the caller; null sends no token. */
      readonly as: string | null;
      /** Account name of the wallet that logged in; null is the account's own. */
      readonly signer: string | null;
      readonly request: MapNode | null;
      /** Page of a list, from 1: earlier pages are read for its cursor. */
      readonly page: number;
      readonly save: string | null;
    }
  | { readonly kind: 'oracle' | 'mark'; readonly prices: readonly PriceEntry[] }
  | {
      readonly kind: 'fundingRate';
      readonly rates: readonly { readonly market: MarketId; readonly ratePpb: Ppb }[];
    }
  | {
      readonly kind: 'deposit' | 'withdraw';
      readonly account: string;
      readonly subaccount: number;
      readonly amount: Quanta;
    }
  | {
      readonly kind: 'tapeDepth' | 'tapeSnapshot' | 'tapeQuotes';
      readonly market: MarketId;
      readonly levels: readonly TapeLevel[];
    }
  | {
      readonly kind: 'tapeTrade';
      readonly market: MarketId;
      readonly priceTicks: PriceTicks;
      readonly lots: Lots;
    }
  | { readonly kind: 'tapeGap'; readonly market: MarketId }
  | {
      readonly kind: 'listMarket' | 'setMarketTerms' | 'setMarketStatus' | 'delistMarket';
      /** Empty for a market to be listed. */
      readonly symbol: string;
      /** Body of the operator's request. */
      readonly request: Readonly<Record<string, unknown>>;
    }
  /** One command of the engine as JSON. */
  | { readonly kind: 'command'; readonly fields: Readonly<Record<string, unknown>> }
  | Omit<TapeBar, 'timeUs'>
  | Omit<TapeL3, 'timeUs'>
  | { readonly kind: 'repeat'; readonly times: number; readonly steps: readonly Step[] };

export interface PriceEntry {
  readonly market: MarketId;
  readonly priceTicks: PriceTicks;
  /** Source text. */
  readonly text: string;
}

/** Checks after a step; null and empty check nothing. */
export interface Expectation extends StateExpectation {
  readonly exact: boolean;
  readonly status: number | null;
  /** True: any status but 200. */
  readonly refused: boolean;
  readonly body: SourceNode | null;
  readonly error: string | null;
  /** Whether another page follows. */
  readonly more: SourceNode | null;
  /** Start of retention, a header of a page. */
  readonly keptSince: SourceNode | null;
  /** Outcome of a simulation verb; null means `ok`. */
  readonly outcome: string | null;
  readonly events: SourceNode | null;
}

export interface FinalExpectation extends StateExpectation {
  readonly place: Place;
  /** Checks of the fuzzer for the commands of the run. */
  readonly checks: readonly CheckName[];
  readonly stateHash: string | null;
}

/** Expectations on the state of the exchange, by name. */
export interface StateExpectation {
  readonly records: MapNode | null;
  readonly balances: MapNode | null;
  readonly positions: MapNode | null;
  readonly book: MapNode | null;
}
