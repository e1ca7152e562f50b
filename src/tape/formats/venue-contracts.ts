/**
 * Kinds of contracts by their venue and the venue's name of them. Sizes of coin-margined ones are
 * contracts of a fixed value in USD, so their PnL is not the size times the change of the price.
 */
export const INVERSE = {
  binance: /USD_(?:PERP|[0-9]{6})$/,
  /** Contracts of BitMEX are margined in bitcoin unless they name a stablecoin. */
  bitmex: /^(?!.*(?:USD[TC]|_))/,
  bybit: /USD(?:[FGHJKMNQUVXZ][0-9]{2})?$/,
  deribit: /^[A-Z]+-(?:PERPETUAL|[0-9]{1,2}[A-Z]{3}[0-9]{2})$/,
  kraken: /^[PF]I_/i,
  okx: /-USD-(?:SWAP|[0-9]{6})$/,
} as const;

const ALL = /^/;
/** Swaps and futures of OKX. */
export const OKX_CONTRACT = /-(?:SWAP|[0-9]{6})$/;
/** Names of Nautilus for coin-margined contracts of Binance; those of BUSD are linear. */
const NAUTILUS_BINANCE = /USD_[0-9]{6}$|(?:^BNB|[^B])USD[_-]PERP$/;
/** Contracts of these venues with a quote of USD alone are coin-margined. */
const LEAN_MARKET = /^(?:binance|bybit)$/;

/** By Tardis' and Nautilus' names of venues. */
const AT: Readonly<Record<string, readonly RegExp[]>> = {
  binance: [INVERSE.binance, NAUTILUS_BINANCE],
  'binance-delivery': [ALL],
  bitmex: [INVERSE.bitmex],
  bybit: [INVERSE.bybit, /-INVERSE$/],
  cryptofacilities: [INVERSE.kraken],
  deribit: [INVERSE.deribit],
  'huobi-dm': [ALL],
  'huobi-dm-swap': [ALL],
  kraken: [INVERSE.kraken],
  okex: [INVERSE.okx],
  'okex-futures': [INVERSE.okx],
  'okex-swap': [INVERSE.okx],
  okx: [INVERSE.okx],
};

/**
 * Linear contracts whose sizes are numbers of contracts, by the same names of venues. A contract is
 * a fixed quantity of the base currency, which the venue lists and no recording holds.
 */
const COUNTED_AT: Readonly<Record<string, RegExp>> = {
  bitmex: /USD[TC]/,
  'gate-io-futures': ALL,
  'huobi-dm-linear-swap': ALL,
  okex: OKX_CONTRACT,
  'okex-futures': OKX_CONTRACT,
  'okex-swap': OKX_CONTRACT,
  okx: OKX_CONTRACT,
};

/** Whether the sizes of a venue's market are numbers of linear contracts. */
export function countsContractsAt(venue: string, symbol: string): boolean {
  return COUNTED_AT[venue.toLowerCase()]?.test(symbol) === true && !isInverseAt(venue, symbol);
}

/** Whether a venue's market is a coin-margined contract. */
export function isInverseAt(venue: string, symbol: string): boolean {
  return (AT[venue.toLowerCase()] ?? []).some((name) => name.test(symbol));
}

/** The same by LEAN's folders, `cryptofuture/binance/minute/btcusd`; those of `crypto` are spot. */
export function isInverseInLean(folders: readonly string[], symbol: string): boolean {
  const market = folders.findIndex((folder) => LEAN_MARKET.test(folder));
  return market >= 0 && folders[market - 1] !== 'crypto' && /^[0-9A-Z]+USD$/.test(symbol);
}
