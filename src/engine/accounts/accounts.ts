/** Addresses, accounts and subaccounts, by dense ids in order of creation. */
import { archiveList, wordOf, type Archive } from '../../base/archive.ts';
import { must } from '../../base/assert.ts';
import {
  accountId,
  address,
  subaccountId,
  timeUs,
  type AccountId,
  type Address,
  type SubaccountId,
  type TimeUs,
} from '../../num/units.ts';
import { emptyOwnerList, type OwnerList } from '../book/order-table.ts';
import type { SelfTradeMode } from '../config.ts';
import { NonceCells } from './nonce-cells.ts';
import { NonceScope } from './nonces.ts';
import { Subaccount, SUBACCOUNT_ROLES, type SubaccountRole } from './subaccount.ts';

const NONE_GRANTED: readonly number[] = [];

export class Account {
  readonly id: AccountId;
  readonly address: Address;
  /** Overrides the exchange's mode. */
  selfTradeMode: SelfTradeMode | null = null;
  readonly nonces: NonceScope;
  /**
   * Signer set of the account; null until it is replaced, when the account itself signs.
   */
  signers: readonly Address[] | null = null;
  quorum = 1;
  /** Delegates by subaccount index, in order of grant. */
  readonly delegates = new Map<number, AccountId[]>();
  /** By subaccount index, in order of creation. */
  readonly subaccounts = new Map<number, SubaccountId>();
  /** Retained ended orders, oldest first; history, outside the state hash. */
  readonly endedOrders: OwnerList = emptyOwnerList();
  endedOrdersCut = false;

  constructor(id: AccountId, text: Address, nonceCells: NonceCells) {
    this.nonces = new NonceScope(nonceCells);
    this.id = id;
    this.address = text;
  }

  hasDelegate(index: number, delegate: AccountId): boolean {
    return this.delegates.get(index)?.includes(delegate) === true;
  }

  archive(io: Archive): void {
    this.selfTradeMode = io.optionalInt(this.selfTradeMode) as SelfTradeMode | null;
    this.nonces.archive(io);
    if (io.bool(this.signers !== null)) {
      this.signers = archiveList(io, this.signers ?? [], (saved) => address(io.text(saved ?? '')));
    }
    this.quorum = io.int(this.quorum);
    const indices = io.loading ? NONE_GRANTED : [...this.delegates.keys()].sort((a, b) => a - b);
    const count = io.int(indices.length);
    for (let i = 0; i < count; i++) {
      const index = io.int(indices[i] ?? 0);
      const granted = this.delegates.get(index) ?? [];
      this.delegates.set(
        index,
        archiveList(io, granted, (saved) => accountId(io.int(saved ?? 0))),
      );
    }
  }
}

export class Accounts {
  private readonly byAddress = new Map<Address, Account>();
  readonly all: Account[] = [];
  readonly subaccounts: Subaccount[] = [];
  private readonly nonceCells = new NonceCells();

  find(text: Address): Account | undefined {
    return this.byAddress.get(text);
  }

  get(id: AccountId): Account {
    return must(this.all[id], 'account ids are dense');
  }

  /** The account of this address, created on first use. */
  intern(text: Address): Account {
    const found = this.byAddress.get(text);
    if (found !== undefined) return found;
    const account = new Account(accountId(this.all.length), text, this.nonceCells);
    this.all.push(account);
    this.byAddress.set(text, account);
    return account;
  }

  subaccount(id: SubaccountId): Subaccount {
    return must(this.subaccounts[id], 'subaccount ids are dense');
  }

  findSubaccount(text: Address, index: number): Subaccount | undefined {
    const id = this.byAddress.get(text)?.subaccounts.get(index);
    return id === undefined ? undefined : this.subaccounts[id];
  }

  /** The subaccount, created by its first credit. */
  open(text: Address, index: number, nowUs: TimeUs, role: SubaccountRole = 'user'): Subaccount {
    const account = this.intern(text);
    const id = account.subaccounts.get(index);
    if (id !== undefined) return this.subaccount(id);
    const newId = subaccountId(this.subaccounts.length);
    const made = new Subaccount(newId, account, index, role, this.nonceCells);
    made.updatedAtUs = nowUs;
    this.subaccounts.push(made);
    account.subaccounts.set(index, made.id);
    return made;
  }

  archive(io: Archive): void {
    io.section('accounts');
    const accounts = io.int(this.all.length);
    for (let i = 0; i < accounts; i++) {
      const account = io.loading ? this.intern(address(io.text(''))) : this.get(accountId(i));
      if (!io.loading) io.text(account.address);
      if (io.part?.('account', account) !== true) account.archive(io);
    }
    const subaccounts = io.int(this.subaccounts.length);
    for (let i = 0; i < subaccounts; i++) {
      const saved = this.subaccounts[i];
      const owner = accountId(io.int(saved?.account ?? 0));
      const index = io.int(saved?.index ?? 0);
      const role = io.int(saved === undefined ? 0 : SUBACCOUNT_ROLES.indexOf(saved.role));
      const subaccount =
        saved ??
        this.open(this.get(owner).address, index, timeUs(0), wordOf(SUBACCOUNT_ROLES, role));
      if (io.part?.('subaccount', subaccount) !== true) subaccount.archive(io);
    }
  }
}
