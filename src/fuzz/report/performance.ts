/**
 * Performs the commands of a journal again through a gateway, each as the request of its author,
 * and records the replies. Readable reports are made from them.
 */
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import type { Outcome } from '../../engine/refusals.ts';
import type { Engine, ExchangeView } from '../../engine/read/views.ts';
import type { Reply } from '../../gateway/context.ts';
import { Gateway } from '../../gateway/gateway.ts';
import type { Keccak } from '../../gateway/ports.ts';
import { orderId, type OrderId } from '../../num/units.ts';
import { actOf, type RequestForm } from './request-form.ts';

export interface PerformedRequest {
  readonly act: RequestForm;
  readonly command: Command;
  /** Time since the previous act. */
  readonly waitUs: number;
  /** Reply to a request; null if the engine threw. */
  readonly reply: Reply | null;
  /** Outcome of a command that is not a request. */
  readonly outcome: Outcome | null;
  /** Name under which later acts refer to its reply; null if none does. */
  readonly savedAs: string | null;
}

export interface PerformanceOptions {
  readonly createEngine: (config: ExchangeConfig) => Engine;
  readonly keccak: Keccak;
  /** Reference of a later act to an order of an earlier one. */
  readonly reference: (source: OrderSource, view: ExchangeView) => string;
}

/** An order: the nth of an act whose reply is saved under a name. */
export interface OrderSource {
  readonly id: OrderId;
  readonly act: RequestForm;
  readonly name: string;
  readonly nth: number;
}

export function perform(
  config: ExchangeConfig,
  commands: readonly Command[],
  options: PerformanceOptions,
): PerformedRequest[] {
  const engine = options.createEngine(config);
  const gateway = new Gateway({
    engine,
    submit: (command) => engine.apply(command),
    nowUs: () => engine.nowUs,
    keccak: options.keccak,
    signatures: 'trust',
  });
  const placed = new Map<OrderId, { readonly at: number; readonly nth: number }>();
  const referred = new Set<number>();
  const acts: PerformedRequest[] = [];
  for (const [at, command] of commands.entries()) {
    const waitUs = Math.max(0, command.timeUs - engine.nowUs);
    const nameOf = (id: OrderId): string | null => {
      const source = placed.get(id);
      const act = source === undefined ? undefined : acts[source.at]?.act;
      if (source === undefined || act === undefined) return null;
      referred.add(source.at);
      const name = `step${String(source.at + 1)}`;
      return options.reference({ id, act, name, nth: source.nth }, engine);
    };
    try {
      if (waitUs > 0) engine.apply({ kind: 'advanceTime', timeUs: command.timeUs });
    } catch {
      // The engine threw in a timer: the act itself shows it again.
    }
    const before = engine.lastOrderId;
    const act = actOf(command, engine, nameOf);
    const done = dispatch(engine, gateway, act, command);
    for (let id = before + 1; id <= engine.lastOrderId; id += 1) {
      placed.set(orderId(id), { at, nth: id - before - 1 });
    }
    acts.push({ act, command, waitUs, ...done, savedAs: null });
  }
  return acts.map((act, at) =>
    referred.has(at) ? { ...act, savedAs: `step${String(at + 1)}` } : act,
  );
}

/** References are only in texts; the engine receives the command, so its ids stay equal. */
function dispatch(
  engine: Engine,
  gateway: Gateway,
  act: RequestForm,
  command: Command,
): Pick<PerformedRequest, 'reply' | 'outcome'> {
  try {
    if (act.kind === 'call' && command.kind !== 'cancelOrder' && !hasReference(act.request)) {
      const { account, signer } = act;
      return {
        reply: gateway.handle(act.endpoint, act.request, { account, signer }),
        outcome: null,
      };
    }
    const outcome = engine.apply(command);
    if (act.kind !== 'call') return { reply: null, outcome };
    return { reply: outcome === 'ok' ? { status: 200, body: null } : null, outcome };
  } catch {
    return { reply: null, outcome: null };
  }
}

const hasReference = (request: Readonly<Record<string, unknown>>): boolean =>
  JSON.stringify(request, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  ).includes('parentOrderId');
