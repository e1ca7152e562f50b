/** The markets of a new exchange, as files and programs list them. */
import type { MarketSpec } from '../engine/config.ts';
import { DEFAULT_MARKETS, parseMarketSpec } from './market-config.ts';
import type { Parsed } from './parsed.ts';
import type { Keccak } from './ports.ts';

/**
 * Parses a list of predefined symbols and of terms; terms of a predefined symbol replace single
 * ones. An error begins with the place, such as `markets[1]`.
 */
export function parseMarkets(list: unknown, keccak: Keccak): Parsed<MarketSpec[]> {
  if (!Array.isArray(list)) {
    return { ok: false, error: 'markets: must be a list of symbols and terms' };
  }
  const specs: MarketSpec[] = [];
  const places = new Map<string, string>();
  for (const [i, entry] of (list as readonly unknown[]).entries()) {
    const place = `markets[${String(i)}]`;
    const parsed = parseMarket(entry, keccak);
    if (!parsed.ok) return { ok: false, error: `${place}: ${parsed.error}` };
    const { symbol } = parsed.value;
    const other = places.get(symbol);
    if (other !== undefined) {
      return { ok: false, error: `${place}: ${symbol} is listed already, by ${other}` };
    }
    places.set(symbol, place);
    specs.push(parsed.value);
  }
  return { ok: true, value: specs };
}

function parseMarket(entry: unknown, keccak: Keccak): Parsed<MarketSpec> {
  const terms = typeof entry === 'object' && entry !== null ? entry : null;
  const symbol = terms === null ? entry : (terms as { readonly symbol?: unknown }).symbol;
  const isKnown = DEFAULT_MARKETS.some((market) => market.symbol === symbol);
  if (terms === null && !isKnown) {
    return { ok: false, error: `${String(entry)} is not a predefined market; give its terms` };
  }
  return parseMarketSpec(overPredefined(terms ?? { symbol }), keccak);
}

const RATES = ['initialMargin', 'maintenanceMargin'];

/** Terms over those of the predefined market of their symbol; tiers replace its two rates. */
export function overPredefined(terms: object): Readonly<Record<string, unknown>> {
  const { symbol } = terms as { readonly symbol?: unknown };
  const known = DEFAULT_MARKETS.find((market) => market.symbol === symbol);
  if (known === undefined || !('marginTiers' in terms)) return { ...known, ...terms };
  const others = Object.entries(known).filter(([name]) => !RATES.includes(name));
  return { ...Object.fromEntries(others), ...terms };
}
