/**
 * The boundary between this program (the host) and the realm of a strategy (the guest). Only
 * primitive values cross it. Neither side throws across it: a host function that fails returns
 * `FAILED`, and then `failure` has the error's name and message.
 */
import type { OrderUpdate } from '../../strategy/strategy.ts';

export type Primitive = string | number | bigint | boolean | symbol | null | undefined;

/** Functions of the host for the guest; `ticket`: number of a request that `settle` answers. */
/** `FAILED`: see above. */
export type Failed = symbol;

export interface HostPort {
  failure(what: 'name' | 'message'): string;
  /** Reports the error of the handler that ends; `name` is null if it is not an Error. */
  threw(name: string | null, message: unknown, stack: string): undefined | Failed;
  /** A pending handler ended, after `threw` if it failed. */
  ended(handler: number, failed: boolean): undefined | Failed;
  nowMs(): number | Failed;
  random(): number | Failed;
  after(us: number): number | Failed;
  cancel(timer: number): undefined | Failed;
  print(text: unknown): undefined | Failed;
  now(): number | Failed;
  warmingUp(): boolean | Failed;
  draw(): number | Failed;
  drawState(): string | Failed;
  market(symbol: string): string | Failed;
  nextNonce(): number | bigint | Failed;
  setTimer(name: string, afterUs: number): undefined | Failed;
  log(text: unknown): undefined | Failed;
  /** `options`: packed `PlotOptions`. */
  plot(name: string, value: number, options: string): undefined | Failed;
  tag(nonce: number | bigint, text: string): undefined | Failed;
  sleep(ticket: number, us: number): undefined | Failed;
  call(ticket: number, endpoint: string, request: string): undefined | Failed;
  page(ticket: number, endpoint: string, request: string): undefined | Failed;
}

/**
 * Functions of the guest for the host. Those that return a number run the strategy: 0 if it
 * returned, -1 if it threw, otherwise the number of the pending handler.
 */
export interface GuestPort {
  /** Runs the bundle's script. */
  run(): number;
  /** Definition as packed data, without its functions; null if it threw. */
  definition(): string | null;
  /** Result of a function of the definition as packed data; null if it threw. */
  derived(name: 'barsUs' | 'warmUpUs', parameters: string): string | null;
  /** Names of the handlers to call, with those for what the strategy keeps; null if it threw. */
  create(parameters: string): string | null;
  begin(facts: string): void;
  bar(
    symbol: string,
    startUs: number,
    timeUs: number,
    intervalUs: number,
    open: number,
    high: number,
    low: number,
    close: number,
    volume: number,
  ): number;
  trade(symbol: string, timeUs: number, price: string, quantity: string): number;
  /** A level of the next book. */
  level(isBid: boolean, price: string, size: string): void;
  book(
    symbol: string,
    timeUs: number,
    bidTicks: number | null,
    askTicks: number | null,
    tickSize: string,
    mid: number | null,
  ): number;
  fill(
    symbol: string,
    timeUs: number,
    orderId: string | null,
    role: 'maker' | 'taker',
    price: string,
    quantity: string,
    fee: string,
    position: string,
  ): number;
  order(
    symbol: string,
    timeUs: number,
    orderId: string,
    clientId: string | null,
    status: OrderUpdate['status'],
    reason: string | null,
    quantity: string,
    remaining: string,
  ): number;
  price(handler: 'onMark' | 'onIndex', symbol: string, timeUs: number, price: string): number;
  update(handler: string, update: string): number;
  plain(handler: 'onStart' | 'onStop'): number;
  timer(name: string): number;
  /** Runs a timer of the globals. */
  ring(timer: number): number;
  /** Answers a request with packed data, or an error: `endpoint` is null if it is not the API's. */
  settle(ticket: number, value: string): void;
  refuse(
    ticket: number,
    name: string,
    message: string,
    status: number,
    endpoint: string | null,
  ): void;
  save(): string | null;
  load(saved: string): number;
}
