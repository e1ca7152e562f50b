/**
 * Rights to see and cancel orders: those of an owner, and of its delegates for their subaccounts.
 * Everyone else finds no order.
 */
import type { EndpointId } from '../../contract/endpoints.ts';
import type { ExchangeView, OrderView } from '../../engine/read/views.ts';
import type { OrderIds } from '../../gateway/order-ids.ts';
import { subaccountId, type Address, type SubaccountId } from '../../num/units.ts';
import { NEVER_MS } from '../run-setup.ts';
import { clientIdFault, namedFault, subaccountReadFault } from './read-rights.ts';
import { differingField } from './differing-field.ts';
import { balanceRecord, type Fields } from './records.ts';
import { sendRequest, type ReadOnlyGateway } from './request-command.ts';

/** Above all nonces of runs. */
const UNUSED_NONCE = 2n ** 63n - 1n;

interface Place {
  readonly opened: ReadOnlyGateway;
  readonly engine: ExchangeView;
  readonly ids: OrderIds;
}

/** The first wrong reply to its owner, a delegate or a stranger; null if there is none. */
export function rightsFault(place: Place, owner: SubaccountId, turn: number): string | null {
  const { engine } = place;
  const { account, index } = engine.subaccount(owner);
  const address = engine.addressOf(account);
  const orders = engine.openOrders(owner);
  const order = orders[turn % Math.max(1, orders.length)];
  const others = otherAccounts(engine, address);
  const other = others[turn % Math.max(1, others.length)];
  if (other === undefined) return null;
  const delegated = engine
    .delegatesOf(address)
    .filter(({ delegate }) => engine.addressOf(delegate) === other)
    .map(({ subaccountIndex }) => subaccountIndex);
  return (
    balanceFault(place, address, other, delegated) ??
    delegatesFault(place, address, other, delegated) ??
    grantFault(place, address, turn) ??
    subaccountFault(place, address, { other, delegated }, turn) ??
    (order === undefined
      ? null
      : (cancelFault(place, order, address, address, true) ??
        cancelFault(place, order, address, other, delegated.includes(index)) ??
        orderReadFault(place, order, address, { other, delegated })))
  );
}

function otherAccounts(engine: ExchangeView, than: Address): Address[] {
  const found = new Set<Address>();
  for (let id = 0; id < engine.subaccountCount; id += 1) {
    const { account, system } = engine.subaccount(subaccountId(id));
    const address = engine.addressOf(account);
    if (!system && address !== than) found.add(address);
    for (const { delegate } of engine.delegatesOf(than)) found.add(engine.addressOf(delegate));
  }
  // One that signs for the account has its rights.
  const { signers } = engine.signersOf(than);
  return [...found].filter((address) => {
    const own = engine.signersOf(address).signers;
    return !signers.includes(address) && !own.some((signer) => signers.includes(signer));
  });
}

function balanceFault(
  { opened, engine }: Place,
  account: Address,
  other: Address,
  delegated: readonly number[],
): string | null {
  const { status, body } = opened.gateway.handle(
    'getBalance',
    { account },
    callerOf(engine, other),
  );
  const what = `getBalance of ${account} for ${other}`;
  if (delegated.length === 0) {
    return status === 403 ? null : `${what} is ${String(status)}, although it has no right`;
  }
  const shown = engine.subaccountsOf(account).filter(({ index }) => delegated.includes(index));
  const differs = differingField(
    shown.map(({ id }) => balanceRecord(engine, id)),
    body,
    'body',
  );
  return status === 200 && differs !== null ? `${what}: ${differs}` : null;
}

interface Other {
  readonly other: Address;
  /** Indices of the account's subaccounts that it is a delegate of. */
  readonly delegated: readonly number[];
}

/** Reads of a subaccount by its owner and by the other account. */
function subaccountFault(
  { opened, engine }: Place,
  account: Address,
  { other, delegated }: Other,
  turn: number,
): string | null {
  const place = { opened, engine };
  const owner = { ...callerOf(engine, account), may: null };
  const reader = { ...callerOf(engine, other), may: delegated };
  return (
    subaccountReadFault(place, account, owner, turn) ??
    subaccountReadFault(place, account, reader, turn)
  );
}

/** Reads of an order by its client id, and under the name of the other account. */
function orderReadFault(
  place: Place,
  order: OrderView,
  account: Address,
  { other, delegated }: Other,
): string | null {
  const [owner, reader] = [callerOf(place.engine, account), callerOf(place.engine, other)];
  return (
    clientIdFault(place, account, order, { ...owner, may: null }) ??
    clientIdFault(place, account, order, { ...reader, may: delegated }) ??
    namedFault(place, order, other, owner) ??
    namedFault(place, order, other, reader)
  );
}

/** A delegate sees the delegates of its own subaccounts, whether it names one or not. */
function delegatesFault(
  { opened, engine }: Place,
  account: Address,
  other: Address,
  delegated: readonly number[],
): string | null {
  // Those without a right are refused, as with balances.
  if (delegated.length === 0) return null;
  const request = { account, limit: 100 };
  const caller = callerOf(engine, other);
  const { status, body } = opened.gateway.handle('getDelegates', request, caller);
  const shown = engine
    .delegatesOf(account)
    .filter(({ subaccountIndex }) => delegated.includes(subaccountIndex))
    .sort((a, b) => a.subaccountIndex - b.subaccountIndex || a.delegate - b.delegate)
    .slice(0, 100)
    .map(({ subaccountIndex, delegate }) => ({
      account,
      delegate: engine.addressOf(delegate),
      subaccountIndex,
    }));
  const what = `getDelegates of ${account} for ${other}`;
  if (status !== 200) return `${what} is ${String(status)}, although it is a delegate`;
  const differs = differingField(shown, body, 'body');
  return differs === null ? null : `${what}: ${differs}`;
}

/** Requests of a delegate that only an owner may send, with an unused nonce. */
function grantFault({ opened, engine }: Place, account: Address, turn: number): string | null {
  const grants = engine.delegatesOf(account);
  const grant = grants[turn % Math.max(1, grants.length)];
  if (grant === undefined) return null;
  const { subaccountIndex, delegate } = grant;
  const caller = engine.addressOf(delegate);
  const { signers } = engine.signersOf(account);
  const own = callerOf(engine, caller);
  if (caller === account || signers.includes(own.signer)) return null;
  const signed = { nonce: UNUSED_NONCE, expiresAt: NEVER_MS, signatures: [] };
  const requests: (readonly [EndpointId, Fields])[] = [
    ['updateDelegates', { account, subaccountIndex, delegate: caller, delegated: true, ...signed }],
    ['updateSigners', { account, signers: [caller], quorum: 1, ...signed }],
    [
      'transfer',
      {
        accountFrom: account,
        subaccountIndexFrom: subaccountIndex,
        accountTo: caller,
        subaccountIndexTo: 0,
        amount: '1',
        feedId: engine.config.cashFeedId,
        target: account,
        ...signed,
      },
    ],
  ];
  for (const [endpoint, request] of requests) {
    const sent = sendRequest(opened, engine, { kind: 'call', endpoint, ...own, request });
    if ('command' in sent)
      return `${endpoint} of ${account} is accepted from its delegate ${caller}`;
  }
  return null;
}

/**
 * Whether a cancel of an order becomes the command exactly if the caller has the right. An order
 * whose id a newer live one shares is not tried: trust mode has no other name for it.
 */
function cancelFault(
  { opened, engine, ids }: Place,
  order: OrderView,
  account: Address,
  caller: Address,
  may: boolean,
): string | null {
  const digest = ids.digestOf(order);
  const named = ids.find(digest);
  const isShared =
    named !== undefined && named.orderId > order.orderId && named.nonce === order.nonce;
  if (isShared) return null;
  const own = caller === account;
  const requests: (readonly [EndpointId, Fields])[] = [
    ['cancelOrder', { orderId: digest }],
    ['cancelOrders', { account: may ? account : caller, orderIds: [digest] }],
  ];
  for (const [endpoint, request] of requests) {
    const sent = sendRequest(opened, engine, {
      kind: 'call',
      endpoint,
      account: caller,
      signer: callerOf(engine, caller).signer,
      request,
    });
    const cancels =
      'command' in sent && sent.command.kind === 'cancelOrder'
        ? sent.command.orderId === order.orderId
        : false;
    if (cancels === may) continue;
    const who = own ? 'its owner' : may ? 'a delegate' : 'a stranger';
    return `${endpoint} of order ${String(order.orderId)} by ${who} ${cancels ? 'cancels it' : 'does not cancel it'}`;
  }
  const { status } = opened.gateway.handle(
    'getOrder',
    { orderId: digest },
    callerOf(engine, caller),
  );
  if ((status === 200) === may) return null;
  return `getOrder of order ${String(order.orderId)} by ${caller} is ${String(status)}`;
}

function callerOf(engine: ExchangeView, account: Address): { account: Address; signer: Address } {
  const [signer = account] = engine.signersOf(account).signers;
  return { account, signer };
}
