/** The command that the gateway makes of a request, without applying it. */
import type { Command } from '../../engine/commands.ts';
import type { Engine, ExchangeView } from '../../engine/read/views.ts';
import type { Caller, Reply } from '../../gateway/context.ts';
import { Gateway } from '../../gateway/gateway.ts';
import type { OrderIds } from '../../gateway/order-ids.ts';
import type { Keccak } from '../../gateway/ports.ts';
import { timeUs, type TimeUs } from '../../num/units.ts';
import type { RequestForm } from '../report/request-form.ts';

/** Thrown by `submit` in place of applying the command. */
class Captured extends Error {
  readonly command: Command;

  constructor(command: Command) {
    super('captured');
    this.command = command;
  }
}

export interface ReadOnlyGateway {
  readonly gateway: Gateway;
  /** Time of the next request. */
  nowUs: TimeUs;
}

/** A gateway whose writes are captured. */
export function opensGateway(engine: Engine, keccak: Keccak, ids: OrderIds): ReadOnlyGateway {
  const opened: { gateway: Gateway; nowUs: TimeUs } = {
    gateway: new Gateway({
      engine,
      submit: (command) => {
        throw new Captured(command);
      },
      nowUs: () => opened.nowUs,
      keccak,
      signatures: 'trust',
      ids,
    }),
    nowUs: engine.nowUs,
  };
  return opened;
}

export type CallForm = Extract<RequestForm, { kind: 'call' }>;

/** After a change of its signers an account is signed for by one of them. */
export function callerOf(engine: ExchangeView, { account, signer }: CallForm): Caller {
  if (signer !== account) return { account, signer };
  return { account, signer: engine.signersOf(account).signers[0] ?? account };
}

/** The command of a request, or the reply of one that is refused before it becomes a command. */
export function sendRequest(
  opened: ReadOnlyGateway,
  engine: ExchangeView,
  act: CallForm,
): { readonly command: Command } | { readonly reply: Reply } {
  try {
    const caller = callerOf(engine, act);
    return { reply: opened.gateway.handle(act.endpoint, act.request, caller) };
  } catch (error) {
    if (error instanceof Captured) return { command: error.command };
    throw error;
  }
}

/** The command of a request as its author sends it; null if there is none. */
export function commandOfRequest(
  opened: ReadOnlyGateway,
  engine: ExchangeView,
  act: RequestForm,
  atUs: number,
): Command | null {
  if (act.kind !== 'call' || !engine.signersOf(act.account).signers.includes(act.account)) {
    return null;
  }
  opened.nowUs = timeUs(atUs);
  try {
    const result = sendRequest(opened, engine, act);
    return 'command' in result ? result.command : null;
  } catch {
    // A gateway that throws makes no command.
    return null;
  }
}
