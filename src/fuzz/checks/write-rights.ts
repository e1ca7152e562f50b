/**
 * Rights to change an account: the request of its author is sent again by another
 * account. Without the right of the endpoint it never becomes a command.
 */
import { ENDPOINTS } from '../../contract/endpoints.ts';
import type { ExchangeView } from '../../engine/read/views.ts';
import { subaccountId, type Address } from '../../num/units.ts';
import { unusedIndex } from './read-rights.ts';
import { sendRequest, type CallForm, type ReadOnlyGateway } from './request-command.ts';

/** The fault of a request by a caller without the right to it; null if there is none. */
export function writeFault(
  opened: ReadOnlyGateway,
  engine: ExchangeView,
  act: CallForm,
  turn: number,
): string | null {
  const { endpoint, request } = act;
  const { access } = ENDPOINTS[endpoint];
  if (access !== 'owner' && access !== 'delegate') return null;
  const { owner, index } = subjectOf(act);
  const caller = callerOf(engine, owner, turn);
  if (caller === undefined) return null;
  const granted = engine
    .delegatesOf(owner)
    .filter(({ delegate }) => engine.addressOf(delegate) === caller)
    .map(({ subaccountIndex }) => subaccountIndex);
  const may = access === 'delegate' && granted.some((one) => index === null || one === index);
  if (may) return null;
  const [signer = caller] = engine.signersOf(caller).signers;
  // A delegate sends the request of an owner for its own subaccount.
  const [own] = access === 'owner' && 'subaccountIndex' in request ? granted : [];
  const asked = own === undefined ? request : { ...request, subaccountIndex: own };
  const sent = sendRequest(opened, engine, { ...act, request: asked, account: caller, signer });
  if (!('command' in sent)) return null;
  const who = granted.length > 0 ? 'a delegate' : 'a stranger';
  return `${endpoint} ${textOf(asked)} of ${owner} is accepted from ${who}, ${caller}`;
}

/** The fault of a request for a subaccount that does not exist; null if it is refused. */
export function unknownSubaccountFault(
  opened: ReadOnlyGateway,
  engine: ExchangeView,
  act: CallForm,
  turn: number,
): string | null {
  const { endpoint, request, account } = act;
  const unused = unusedIndex(engine, account, turn);
  const withUnused = (fields: object) => ({ ...fields, subaccountIndex: unused });
  const { orders } = request as { readonly orders?: readonly Readonly<Record<string, unknown>>[] };
  const subject = orders?.[0] ?? request;
  const isOwn = (subject['account'] ?? account) === account;
  if (ENDPOINTS[endpoint].method !== 'POST' || !isOwn || !('subaccountIndex' in subject)) {
    return null;
  }
  const asked = orders === undefined ? withUnused(request) : { orders: orders.map(withUnused) };
  const sent = sendRequest(opened, engine, { ...act, request: asked });
  if (!('command' in sent)) return null;
  return `${endpoint} ${textOf(asked)} is accepted for a subaccount that does not exist`;
}

/** The account that a request changes, its author's where none is named, and the subaccount. */
function subjectOf({ request, account }: CallForm): {
  readonly owner: Address;
  readonly index: number | null;
} {
  const { orders } = request as { readonly orders?: readonly Readonly<Record<string, unknown>>[] };
  const fields = orders?.[0] ?? request;
  return {
    owner: (fields['target'] ?? fields['account'] ?? account) as Address,
    index: (fields['subaccountIndex'] ?? null) as number | null,
  };
}

/** In turn one of the delegates and one of all users, without those that sign for the account. */
function callerOf(engine: ExchangeView, owner: Address, turn: number): Address | undefined {
  const delegates = engine.delegatesOf(owner).map(({ delegate }) => engine.addressOf(delegate));
  const { signers } = engine.signersOf(owner);
  const isOther = (address: Address): boolean =>
    address !== owner &&
    !signers.includes(address) &&
    !engine.signersOf(address).signers.some((signer) => signers.includes(signer));
  const others = (turn % 2 === 0 ? delegates : usersOf(engine)).filter(isOther);
  return others[(turn >> 1) % Math.max(1, others.length)];
}

function usersOf(engine: ExchangeView): Address[] {
  const found = new Set<Address>();
  for (let id = 0; id < engine.subaccountCount; id += 1) {
    const { account, system } = engine.subaccount(subaccountId(id));
    if (!system) found.add(engine.addressOf(account));
  }
  return [...found];
}

const textOf = (request: unknown): string =>
  JSON.stringify(request, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
