/**
 * A script: the commands of a failed run with symbolic ids. Dense ids are those of the recorded run
 * and change if commands are removed. Each id is therefore resolved by its meaning: an address and
 * index, a symbol, or the nth order of a step.
 */
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import type { EngineEvent } from '../../engine/events.ts';
import type { Engine, ExchangeView } from '../../engine/read/views.ts';
import { COMMANDS } from '../../engine/schema/command-schema.ts';
import type { IdUnit } from '../../engine/schema/field-types.ts';
import { mapIds } from '../../engine/schema/map-ids.ts';
import { accountId, orderId, subaccountId, type Address, type OrderId } from '../../num/units.ts';
import type { Failure } from '../fuzz-run.ts';
import { mustBeFunction, mustBeScript } from '../fuzz-error.ts';

export interface ScriptStep {
  /** Stable key of the step, through all changes. */
  readonly key: number;
  readonly command: Command;
}

export interface Script {
  readonly config: ExchangeConfig;
  readonly names: ScriptNames;
  readonly steps: readonly ScriptStep[];
}

/** Meaning of the ids of the recorded run. */
export interface ScriptNames {
  readonly subaccounts: readonly { readonly address: Address; readonly index: number }[];
  readonly accounts: readonly Address[];
  readonly markets: readonly string[];
  readonly orders: ReadonlyMap<OrderId, { readonly key: number; readonly nth: number }>;
}

/** Unknown id, for a reference to a removed object. */
const UNKNOWN_ID = 1_000_000;
const NO_MARKET = 60_000;
const NO_ORDER = 2 ** 50;

/** Replays the commands once to record the meaning of their ids. */
export function toScript(
  { config, commands }: Pick<Failure, 'config' | 'commands'>,
  createEngine: (config: ExchangeConfig) => Engine,
): Script {
  const engine = createEngine(config);
  const orders = new Map<OrderId, { key: number; nth: number }>();
  for (const [key, command] of commands.entries()) {
    let nth = 0;
    try {
      engine.apply(command, (event) => {
        if (isPlaced(event)) orders.set(event.orderId, { key, nth: nth++ });
      });
    } catch {
      // The failure itself, which is the last command.
    }
  }
  return {
    config,
    names: { ...namesOf(engine), orders },
    steps: commands.map((command, key) => ({ key, command })),
  };
}

function namesOf(view: ExchangeView): Omit<ScriptNames, 'orders'> {
  const subaccounts: { address: Address; index: number }[] = [];
  const accounts: Address[] = [];
  const found = <T>(read: () => T): T | null => {
    try {
      return read();
    } catch {
      return null;
    }
  };
  for (let id = 0; ; id += 1) {
    const known = found(() => view.subaccount(subaccountId(id)));
    if (known === null) break;
    subaccounts.push({ address: view.addressOf(known.account), index: known.index });
  }
  for (let id = 0; ; id += 1) {
    const known = found(() => view.addressOf(accountId(id)));
    if (known === null) break;
    accounts.push(known);
  }
  return { subaccounts, accounts, markets: view.markets().map(({ spec }) => spec.symbol) };
}

/** Resolves the steps of one execution in order. */
export class Binder {
  private readonly mapping: Readonly<Record<IdUnit, (id: number) => number>>;
  private readonly placed = new Map<number, OrderId[]>();
  private current: OrderId[] = [];

  constructor({ names }: Script, engine: ExchangeView) {
    this.mapping = {
      marketId: (id) => {
        const symbol = names.markets[id];
        return symbol === undefined ? id : (engine.marketIdOf(symbol) ?? NO_MARKET);
      },
      subaccountId: (id) => {
        const owner = names.subaccounts[id];
        if (owner === undefined) return id;
        return engine.subaccountIdOf(owner.address, owner.index) ?? UNKNOWN_ID;
      },
      accountId: (id) => {
        const address = names.accounts[id];
        return address === undefined ? id : (engine.accountIdOf(address) ?? UNKNOWN_ID);
      },
      orderId: (id) => {
        const source = names.orders.get(orderId(id));
        // Orders of the exchange itself, and unknown ones, keep their ids.
        if (source === undefined) return id;
        return this.placed.get(source.key)?.[source.nth] ?? NO_ORDER;
      },
    };
  }

  /** The step's command in the ids of this execution; pass its events to `see`. */
  bind({ key, command }: ScriptStep): Command {
    if (command.kind === 'placeOrder' || command.kind === 'placeOrders') {
      this.current = [];
      this.placed.set(key, this.current);
    }
    return mapIds(COMMANDS[command.kind].body, command, (unit, id) => this.mapping[unit](id));
  }

  readonly see = (event: EngineEvent): void => {
    if (isPlaced(event)) this.current.push(event.orderId);
  };
}

/** True for an order that a command placed; false for system orders. */
function isPlaced(
  event: EngineEvent,
): event is Extract<EngineEvent, { kind: 'orderAccepted' | 'orderRejected' }> {
  return (
    (event.kind === 'orderAccepted' || event.kind === 'orderRejected') && event.cause === 'command'
  );
}

/** Applies steps; `see` also receives their events. */
export function play(
  engine: Engine,
  steps: readonly ScriptStep[],
  binder: Binder,
  see: (event: EngineEvent) => void = () => undefined,
): void {
  for (const step of steps) {
    try {
      engine.apply(binder.bind(step), (event) => {
        binder.see(event);
        see(event);
      });
    } catch {
      // The failure itself, which is the last command.
    }
  }
}

/** Commands of the script as a journal. */
export function commandsOf(
  script: Script,
  createEngine: (config: ExchangeConfig) => Engine,
): Command[] {
  mustBeScript('script', script);
  mustBeFunction('createEngine', createEngine);
  const engine = createEngine(script.config);
  const binder = new Binder(script, engine);
  return script.steps.map((step) => {
    const command = binder.bind(step);
    try {
      engine.apply(command, binder.see);
    } catch {
      // Only the last command throws, if that is the failure.
    }
    return command;
  });
}
