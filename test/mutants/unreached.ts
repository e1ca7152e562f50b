/** Parts of the sources that no path of the exhaustive worlds reaches, with the reason. */
export const UNREACHED_ROOMS: Readonly<Record<string, string>> = {
  'engine/tape/': 'the worlds have no recorded liquidity',
  'engine/market/candles': 'the worlds keep no history',
  'engine/market/recent-trades': 'the worlds keep no history',
};
