/**
 * Parses the exchange and markets of a scenario with the gateway's parsers, so that limits are
 * defined once.
 */
import { suggest } from '../base/suggest.ts';
import type { ExchangeConfig, MarketSpec } from '../engine/config.ts';
import { DEFAULT_EXCHANGE_CONFIG, parseExchangeConfig } from '../gateway/exchange-config.ts';
import { DEFAULT_MARKETS, parseMarketSpec } from '../gateway/market-config.ts';
import { overPredefined } from '../gateway/market-list.ts';
import type { Keccak } from '../gateway/ports.ts';
import type { TimeUs } from '../num/units.ts';
import { fieldOf, mapOf, textOf } from './node-fields.ts';
import {
  itemPath,
  START_OF_TEXT,
  type MapNode,
  type Place,
  type Problem,
  type SourceNode,
} from './source-node.ts';

export interface Setting {
  readonly config: ExchangeConfig;
  readonly markets: readonly MarketSpec[];
}

/** Without `markets`, the first predefined market is listed. */
export function parseSetting(
  root: MapNode,
  startUs: TimeUs,
  keccak: Keccak,
  problems: Problem[],
): Setting {
  const listed = fieldOf(root, 'markets');
  const nodes = listed?.kind === 'list' ? listed.items : null;
  const markets: MarketSpec[] = [];
  for (const [i, node] of (nodes ?? [null]).entries()) {
    const path = itemPath('markets', i);
    const place = node?.place ?? root.place;
    const input = node === null ? DEFAULT_MARKETS[0] : marketInput(node, path, problems);
    if (input === undefined) continue;
    const spec = parseMarketSpec(input, keccak);
    if (!spec.ok) {
      problems.push({ place: placeOfField(node, spec.error) ?? place, path, message: spec.error });
    } else if (markets.some(({ symbol }) => symbol === spec.value.symbol)) {
      problems.push({ place, path, message: `${spec.value.symbol} is listed twice` });
    } else {
      markets.push(spec.value);
    }
  }
  return { config: config(mapOf(root, 'config'), startUs, problems), markets };
}

function config(map: MapNode | null, startUs: TimeUs, problems: Problem[]): ExchangeConfig {
  const parsed = parseExchangeConfig(map === null ? {} : plainText(map), startUs);
  if (parsed.ok) return parsed.value;
  const place = placeOfField(map, parsed.error) ?? map?.place ?? START_OF_TEXT;
  problems.push({ place, path: 'config', message: parsed.error });
  return DEFAULT_EXCHANGE_CONFIG;
}

/**
 * A symbol of a predefined market; or terms, merged over a predefined market of the same symbol.
 */
function marketInput(node: SourceNode, path: string, problems: Problem[]): unknown {
  const symbol = node.kind === 'scalar' ? node.text : textOf(mapNode(node), 'symbol');
  const known = DEFAULT_MARKETS.find((market) => market.symbol === symbol);
  if (node.kind !== 'scalar') return overPredefined(plainText(node) as object);
  if (known === undefined) {
    const hint = suggest(
      node.text,
      DEFAULT_MARKETS.map((market) => market.symbol),
    );
    const message = `${node.text} is not a predefined market${hint}; give its terms as a map`;
    problems.push({ place: node.place, path, message });
  }
  return known;
}

const mapNode = (node: SourceNode): MapNode | null => (node.kind === 'map' ? node : null);

/** Numbers as source text, because the parsers read decimals and integers from text. */
export function plainText(node: SourceNode): unknown {
  switch (node.kind) {
    case 'scalar':
      if (node.type === 'null') return null;
      return node.type === 'boolean' ? node.text === 'true' : node.text;
    case 'list':
      return node.items.map(plainText);
    case 'map':
      return Object.fromEntries(
        [...node.entries].map(([key, { value }]) => [key, plainText(value)]),
      );
  }
}

/** Finds the place of the field that a parser's error names, such as `market.funding.cap`. */
function placeOfField(node: SourceNode | null, error: string): Place | null {
  const [, path] = /\b(?:market|config)((?:\.\w+|\[\d+\])+)/.exec(error) ?? [];
  let at = node;
  let place: Place | null = null;
  for (const [, field, index] of (path ?? '').matchAll(/\.(\w+)|\[(\d+)\]/g)) {
    if (at?.kind === 'map' && field !== undefined) {
      place = at.entries.get(field)?.keyPlace ?? place;
      at = at.entries.get(field)?.value ?? null;
    } else if (at?.kind === 'list') {
      at = at.items[Number(index)] ?? null;
      place = at?.place ?? place;
    }
  }
  return place;
}
