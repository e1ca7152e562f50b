/** WebSocket feeds as data: sources, their access, and the type of their updates. */
export const FEEDS = {
  trade: { access: 'public', update: 'Trade' },
  book: { access: 'public', update: 'Book' },
  candle: { access: 'public', update: 'Candle' },
  price: { access: 'public', update: 'Price' },
  summary: { access: 'public', update: 'Summary' },
  liquidation: { access: 'public', update: 'Liquidation' },
  market: { access: 'public', update: 'Market' },
  order: { access: 'private', update: 'Order' },
  fill: { access: 'private', update: 'Fill' },
  position: { access: 'private', update: 'Position' },
  balance: { access: 'private', update: 'Balance' },
  stats: { access: 'private', update: 'Stats' },
} as const satisfies Record<string, { access: 'public' | 'private'; update: string }>;

export type FeedSource = keyof typeof FEEDS;

/** `advance` moves a replay on a virtual clock. */
export const FEED_METHODS = [
  'auth',
  'subscribe',
  'unsubscribe',
  'create',
  'cancel',
  'advance',
] as const;
export const MAX_SUBSCRIPTIONS = 50;
