/** A socket of 1,000 updates a second, in place of that of the page. */
export interface Flooded {
  readonly sent: number;
  readonly beganMs: number;
}

/** A connection inside the page: a book of 1,000 levels, trades, and orders of an account. */
export function flood([symbol, account, count]: readonly [string, string, number]): void {
  const level = (i: number, quantity: string) => ({ price: String(60_000 + i), quantity });
  const counts = { sent: 0, beganMs: 0 };
  const order = (i: number, seq: number) => ({
    account,
    clientId: null,
    createdAt: 1_700_000_000_000 + i,
    expiresAt: 9_007_199_254_740_991,
    flags: { ioc: false, postOnly: false, reduceOnly: false, selfTradeExpire: 'taker' },
    groupId: null,
    lastUpdateSequenceNumber: seq,
    nonce: i,
    ocoGroupId: null,
    orderId: i.toString(16).padStart(64, '0'),
    orderType: 'limit',
    originator: `0x${'0'.repeat(40)}`,
    originatorFee: 0,
    parentOrderId: null,
    period: null,
    price: String(50_000 + i),
    quantity: '1',
    reason: null,
    remaining: String(1 - (seq % 100) / 100),
    settled: String((seq % 100) / 100),
    status: 'partiallyFilled',
    subaccountIndex: 0,
    symbol,
    trailingPercent: null,
    triggerPrice: null,
    updatedAt: 1_700_000_000_000 + seq,
  });
  class Flood extends EventTarget {
    static readonly OPEN = 1;
    readyState = 1;
    onopen: (() => void) | null = null;
    onmessage: ((event: { data: string }) => void) | null = null;
    onclose: (() => void) | null = null;
    private seq = 1;

    constructor() {
      super();
      setTimeout(() => this.onopen?.(), 1);
    }
    close(): void {
      this.onclose?.();
    }
    send(text: string): void {
      const { id, params } = JSON.parse(text) as {
        id: number;
        params: { source?: string; symbols?: string[] };
      };
      setTimeout(() => {
        this.say({ id, result: null });
        if (params.source === 'order') {
          // After the account was read.
          setTimeout(() => {
            this.beginOrders();
          }, 1500);
        }
        if (params.source !== 'book' || params.symbols?.[0] !== symbol) return;
        const bids = Array.from({ length: 500 }, (_, i) => level(-1 - i, '1'));
        const asks = Array.from({ length: 500 }, (_, i) => level(1 + i, '1'));
        this.say({ type: 'Book', data: { symbol, snapshot: true, bids, asks, ...this.next() } });
      }, 1);
    }
    private beginOrders(): void {
      for (let i = 0; i < count; i++) this.say({ type: 'Order', data: order(i, 1) });
      counts.beganMs = performance.now();
      setInterval(() => {
        this.catchUp();
      }, 10);
    }
    private next() {
      this.seq += 1;
      return { previous_sequence_number: this.seq - 1, sequence_number: this.seq, time: 1 };
    }
    private say(message: unknown): void {
      this.onmessage?.({ data: JSON.stringify(message) });
    }
    /** Sends what is due at a thousand a second. */
    private catchUp(): void {
      while (counts.sent < performance.now() - counts.beganMs) {
        counts.sent += 1;
        const at = -1 - (counts.sent % 40);
        const changed = [level(at, String(1 + (counts.sent % 7)))];
        const time = 1_700_000_000_000 + counts.sent;
        if (counts.sent % 5 === 0) {
          this.say({ type: 'Trade', data: { symbol, ...changed[0], time } });
        } else if (counts.sent % 5 === 1) {
          this.say({ type: 'Order', data: order(counts.sent % count, 1 + counts.sent) });
        } else {
          const book = { symbol, snapshot: false, bids: changed, asks: [], ...this.next() };
          this.say({ type: 'Book', data: book });
        }
      }
    }
  }
  Object.assign(globalThis, { WebSocket: Flood, flooded: counts });
}
