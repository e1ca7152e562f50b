/** A scenario as plain data: what `parseScenario` makes of a document, and what `runScenario` carries out. */
import type { EndpointId } from '../contract/endpoints.ts';
import type { TapeBar, TapeL3, TapeLevel } from '../engine/commands.ts';
import type { ExchangeConfig, MarketSpec, SelfTradeMode } from '../engine/config.ts';
import type { DurationUs, Lots, MarketId, Ppb, PriceTicks, Quanta, TimeUs } from '../num/units.ts';
import type { MapNode, Place, SourceNode } from './source-node.ts';

export interface Scenario {
  /** Name for messages: a file's path. */
  readonly file: string;
  readonly title: string;
  /** Rules of the rulebook that it shows, such as `R-2.5`. */
  readonly rules: readonly string[];
  readonly about: string;
  /** Picks where proof runs cut the journal; a scenario draws nothing. */
  readonly seed: number;
  /** Its `genesisTimeUs` is the scenario's start. */
  readonly config: ExchangeConfig;
  /** A market's id is its place here. */
  readonly markets: readonly MarketSpec[];
  readonly accounts: readonly AccountEntry[];
  readonly steps: readonly Step[];
  readonly expect: FinalExpectation;
}

export interface AccountEntry {
  readonly name: string;
  /** null for an account that starts without money. */
  readonly deposit: Quanta | null;
  readonly subaccount: number;
  readonly selfTradeExpire: SelfTradeMode | null;
}

export interface Step {
  readonly place: Place;
  readonly path: string;
  readonly note: string | null;
  /** Time passes before the step acts. */
  readonly time: StepTime | null;
  /** null: the step only lets time pass, or only looks. */
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
      /** Account name of the caller; null calls without a token. */
      readonly as: string | null;
      /** Account name of the wallet that logged in; null is the account's own. */
      readonly signer: string | null;
      readonly request: MapNode | null;
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
      readonly kind: 'tapeDepth' | 'tapeSnapshot';
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
      /** Empty for a market that is listed. */
      readonly symbol: string;
      /** Body of the operator's request. */
      readonly request: Readonly<Record<string, unknown>>;
    }
  | Omit<TapeBar, 'timeUs'>
  | Omit<TapeL3, 'timeUs'>
  | { readonly kind: 'repeat'; readonly times: number; readonly steps: readonly Step[] };

export interface PriceEntry {
  readonly market: MarketId;
  readonly priceTicks: PriceTicks;
  /** As written. */
  readonly text: string;
}

/** What a step looks at afterwards; null and empty look at nothing. */
export interface Expectation extends StateExpectation {
  readonly exact: boolean;
  readonly status: number | null;
  readonly body: SourceNode | null;
  readonly error: string | null;
  /** Outcome of a simulation verb; `ok` unless given. */
  readonly outcome: string | null;
  readonly events: SourceNode | null;
}

export interface FinalExpectation extends StateExpectation {
  readonly place: Place;
  readonly stateHash: string | null;
}

/** Expectations on the state of the exchange, by name. */
export interface StateExpectation {
  readonly records: MapNode | null;
  readonly balances: MapNode | null;
  readonly positions: MapNode | null;
  readonly book: MapNode | null;
}
