/**
 * Answers of reads of the present state, as text. A read that is repeated before the next command
 * has the same answer, so that it is neither composed nor encoded again. The next command forgets
 * them all, and with them the rights that they show.
 */
import type { EndpointId } from '../contract/endpoints.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { PageInfo } from '../gateway/context.ts';
import type { Host } from './exchange-host.ts';
import type { Verified } from './wallet-auth.ts';

const MAX_CHARACTERS = 4 << 20;

/** Reads whose answers depend on the commands alone, and not on the time of the request. */
export const READS_OF_STATE: ReadonlySet<EndpointId> = new Set<EndpointId>([
  'getOrder',
  'listOrders',
  'getBalance',
  'getStats',
  'getDelegates',
  'getTransferMax',
  'getTransfers',
  'getSigners',
  'getMargin',
  'getPositions',
  'getClsHistory',
  'getSummary',
  'getCandles',
  'getTrades',
  'getConfig',
  'getMarkets',
  'getPrice',
  'getPrices',
  'getBook',
]);

/** An answer with status 200. */
export interface KeptAnswer {
  readonly text: string;
  readonly page: PageInfo | undefined;
}

export class ReadAnswers {
  private readonly host: Host;
  /** The state of the answers. */
  private engine: Exchange | null = null;
  private seq = -1;
  /** By caller, null without a token, and by URL. */
  private readonly answers = new Map<Verified | null, Map<string, KeptAnswer>>();
  private characters = 0;

  constructor(host: Host) {
    this.host = host;
  }

  /** null: the read has to be handled. */
  find(caller: Verified | null, url: string): KeptAnswer | null {
    const { engine } = this.host.exchange;
    if (engine.seq !== this.seq || engine !== this.engine) return null;
    return this.answers.get(caller)?.get(url) ?? null;
  }

  /** Keeps an answer that shows the state after `seq` commands, if that is the present one. */
  keep(caller: Verified | null, url: string, answer: KeptAnswer, seq: number): void {
    const { engine, replica } = this.host.exchange;
    // A replica states in each answer by how much it lags.
    if (engine.seq !== seq || replica !== null) return;
    if (seq !== this.seq || engine !== this.engine) this.forget(engine);
    this.characters += url.length + answer.text.length;
    if (this.characters > MAX_CHARACTERS) return;
    const ofCaller = this.answers.get(caller);
    if (ofCaller === undefined) this.answers.set(caller, new Map([[url, answer]]));
    else ofCaller.set(url, answer);
  }

  private forget(engine: Exchange): void {
    this.engine = engine;
    this.seq = engine.seq;
    this.answers.clear();
    this.characters = 0;
  }
}
