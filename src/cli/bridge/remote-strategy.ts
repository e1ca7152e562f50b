/**
 * A strategy that another process decides for: each handler sends its update and waits for the
 * actions. A reply to an action is a message of its own, at its virtual time.
 */
import {
  backtest,
  writeReport,
  type BacktestOptions,
  type BacktestResult,
} from '../../library/backtest/backtest.ts';
import { checkRunNames } from '../../library/backtest/options.ts';
import { npzTables } from '../../report/tables/plain-tables.ts';
import { runTables } from '../../report/tables/run-tables.ts';
import { existsSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { jsonFile } from '../../platform/json-pieces.ts';
import {
  claimFolder,
  recordedRun,
  removeRun,
  RUN_FILE,
  RUN_FILES,
} from '../../run-plan/run-folder.ts';
import type { RunClaim } from '../../run-plan/run-claim.ts';
import { writeWholeFile } from '../../platform/whole-file.ts';
import { defineStrategy, type Keeps } from '../../strategy/definition.ts';
import { MatcherError } from '../../gateway/matcher-client.ts';
import type {
  OrderIntent,
  PlotOptions,
  Strategy,
  StrategyContext,
} from '../../strategy/strategy.ts';
import { BridgeError, type Message, type Wire } from './wire.ts';

const HANDLERS = [
  ...(['onStart', 'onBook', 'onTrade', 'onBar', 'onFill', 'onOrder', 'onTimer'] as const),
  ...(['onFunding', 'onMark', 'onIndex', 'onLiquidation', 'onAccount', 'onData'] as const),
  'onStop',
] as const;

interface StrategyRequest {
  readonly name: string;
  readonly handlers: readonly string[];
  readonly barsUs: readonly number[];
  readonly warmUpUs: number;
  readonly bookDepth: number;
  readonly keeps: Keeps;
  readonly options: Omit<BacktestOptions, 'strategy'>;
  /** Folder of the report and the tables; null writes the tables nowhere. */
  readonly out: string | null;
}

/** Runs the strategy of a request and sends its result. */
export async function runRemote(wire: Wire, message: Message): Promise<void> {
  const request = requestOf(message);
  const { name, barsUs, warmUpUs, bookDepth, keeps, options, out } = request;
  const strategy = defineStrategy({
    name,
    parameters: {},
    keeps,
    bookDepth,
    barsUs: () => barsUs,
    warmUpUs: () => warmUpUs,
    create: () => remoteStrategy(wire, request),
  });
  const claim = out === null ? null : await claimResult(out);
  let result: BacktestResult;
  try {
    result = await backtest({ ...options, strategy, id: name });
    if (out !== null) await writeResult(result, out);
  } catch (error) {
    claim?.release();
    // A folder with files stays.
    if (out !== null) await rmdir(out).catch(() => undefined);
    throw error;
  }
  claim?.release();
  const [{ summary, metrics }] = result.strategies;
  const { chainHash, stateHash, commands, firstUs, lastUs } = result;
  wire.send({ done: { chainHash, stateHash, commands, firstUs, lastUs, summary, metrics } });
}

/** An earlier result of a bridge is replaced; the files of another run would stay beside it. */
async function claimResult(out: string): Promise<RunClaim> {
  const other = RUN_FILES.find((name) => name !== RUN_FILE && existsSync(join(out, name)));
  if (other === undefined) return claimFolder(out, true);
  throw new BridgeError(`out: ${out} holds ${other} of another run; choose another folder`);
}

/** The record goes first: a folder with pages alone would be that of another program. */
async function writeResult(result: BacktestResult, out: string): Promise<void> {
  await removeRun(out);
  // For `orrery export`, `report` and `compare`.
  const run = recordedRun(result, result.report);
  await writeWholeFile(join(out, RUN_FILE), jsonFile(run));
  await writeWholeFile(join(out, 'run.npz'), npzTables(runTables(result)));
  await writeReport(result, out);
}

function requestOf(message: Message): StrategyRequest {
  const { name = 'python', handlers, barsUs = [60_000_000], warmUpUs = 0 } = message;
  const { bookDepth = 1, keeps = {}, options = {}, out = null } = message;
  const fail = (problem: string): never => {
    throw new BridgeError(problem);
  };
  const isKnown = (handler: unknown): boolean => HANDLERS.some((known) => known === handler);
  if (!Array.isArray(handlers) || !handlers.every(isKnown)) {
    return fail(`handlers: must be a list of ${HANDLERS.join(', ')}`);
  }
  if (typeof name !== 'string' || !/^\w[\w.-]{0,99}$/.test(name)) {
    return fail("name: must be letters, digits, '.', '_' and '-', at most 100");
  }
  const isLength = (us: unknown): boolean => Number.isInteger(us) && Number(us) > 0;
  if (!Array.isArray(barsUs) || !barsUs.every(isLength)) {
    return fail('barsUs: must be whole numbers of microseconds above 0');
  }
  if (!Number.isInteger(warmUpUs) || Number(warmUpUs) < 0) {
    return fail('warmUpUs: must be a whole number of microseconds');
  }
  if (typeof options !== 'object' || options === null) return fail('options: must be an object');
  checkRunNames(options, ['symbols', 'others', 'journal']);
  if (out !== null && typeof out !== 'string') return fail('out: must be a folder');
  return {
    name,
    handlers: handlers as string[],
    barsUs: barsUs as number[],
    warmUpUs: Number(warmUpUs),
    // Checked with the definition.
    bookDepth: bookDepth as number,
    keeps: keeps as Keeps,
    options: options,
    out,
  };
}

type Action = readonly [name: string, ...values: unknown[]];

function remoteStrategy(wire: Wire, { handlers, keeps }: StrategyRequest): Strategy {
  /** Sends an event, and carries out the actions of the answer. */
  const notify = (context: StrategyContext, event: Message): void | Promise<void> => {
    wire.send({
      ...event,
      now: context.now(),
      ...(context.warmingUp ? { warmingUp: true } : {}),
      ...(keeps.equity === true ? { equity: context.equity() } : {}),
    });
    const answer = wire.receive();
    if (answer === null) throw new BridgeError('the other process has ended');
    const { actions } = answer;
    if (!Array.isArray(actions) || !actions.every(Array.isArray)) {
      throw new BridgeError('actions: must be a list of lists');
    }
    if (actions.length === 0) return undefined;
    const done = (actions as unknown[] as Action[]).map((action) => carryOut(context, action));
    return Promise.all(done).then(() => undefined);
  };
  const answered = async (
    context: StrategyContext,
    ticket: unknown,
    reply: Promise<unknown>,
  ): Promise<void> => {
    let event: Message;
    try {
      event = { handler: 'onReply', ticket, value: (await reply) ?? null };
    } catch (error) {
      if (!(error instanceof MatcherError) && !(error instanceof RangeError)) throw error;
      event = { handler: 'onReply', ticket, refusal: error.message };
    }
    await notify(context, event);
  };
  const carryOut = async (context: StrategyContext, action: Action): Promise<void> => {
    const [name, first, second, third] = action;
    switch (name) {
      case 'submit':
        return answered(
          context,
          first,
          attempt(() => context.submit(second as OrderIntent)),
        );
      case 'cancel':
        return answered(context, first, context.cancel(textOf(second)));
      case 'cancelAll':
        return answered(
          context,
          first,
          context.cancelAll(second === null ? undefined : textOf(second)),
        );
      case 'timer':
        context.setTimer(String(first), Number(second));
        return;
      case 'log':
        context.log(String(first));
        return;
      case 'plot':
        context.plot(String(first), second === null ? NaN : Number(second), third as PlotOptions);
        return;
      default:
        throw new BridgeError(
          `action '${name}': must be submit, cancel, cancelAll, timer, log or plot`,
        );
    }
  };
  const calls: Record<string, unknown> = {};
  for (const handler of handlers) {
    calls[handler] =
      handler === 'onStart' || handler === 'onStop'
        ? (context: StrategyContext) => notify(context, started(handler, context))
        : (update: unknown, context: StrategyContext) => notify(context, { handler, update });
  }
  return calls;
}

/** `onStart` has the terms of the markets. */
function started(handler: string, context: StrategyContext): Message {
  if (handler !== 'onStart') return { handler };
  const markets = context.symbols.map((symbol) => {
    const { tickSize, lotSize, minQuantity, makerFee, takerFee } = context.market(symbol);
    return { symbol, tickSize, lotSize, minQuantity, makerFee, takerFee };
  });
  return { handler, markets, account: context.account };
}

/** An intent that is not valid rejects, as one that the exchange refuses. */
async function attempt<T>(run: () => Promise<T>): Promise<T> {
  return run();
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new BridgeError('an id of an order, or a symbol, must be text');
}
