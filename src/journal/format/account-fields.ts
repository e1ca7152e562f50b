/** Money, settings and rights of accounts: the fields of each command, in their order as bytes (codec.ts). */
import {
  address,
  marketId,
  ppm,
  quanta,
  subaccountId,
  timeUs,
  type AccountId,
  type MarketId,
} from '../../num/units.ts';
import type {
  Deposit,
  SetSelfTradeMode,
  Transfer,
  UpdateDelegate,
  UpdateMargin,
  UpdateSigners,
  Withdraw,
} from '../../engine/commands.ts';
import type { SelfTradeMode } from '../../engine/config.ts';
import type { CommandFields } from './field-io.ts';

const ANY_TIME = timeUs(0);
const NOBODY = address('');

export const deposit: CommandFields<Deposit> = {
  empty: {
    kind: 'deposit',
    timeUs: ANY_TIME,
    account: NOBODY,
    subaccountIndex: 0,
    amount: quanta(0n),
  },
  pass: (io, atUs, c) => {
    return {
      kind: 'deposit',
      timeUs: atUs,
      account: address(io.text('account', c.account)),
      subaccountIndex: io.uint('subaccountIndex', c.subaccountIndex),
      amount: quanta(io.i64('amount', c.amount)),
    };
  },
};

export const withdraw: CommandFields<Withdraw> = {
  empty: {
    kind: 'withdraw',
    timeUs: ANY_TIME,
    account: NOBODY,
    subaccountIndex: 0,
    amount: quanta(0n),
  },
  pass: (io, atUs, c) => {
    return {
      kind: 'withdraw',
      timeUs: atUs,
      account: address(io.text('account', c.account)),
      subaccountIndex: io.uint('subaccountIndex', c.subaccountIndex),
      amount: quanta(io.i64('amount', c.amount)),
    };
  },
};

export const transfer: CommandFields<Transfer> = {
  empty: {
    kind: 'transfer',
    timeUs: ANY_TIME,
    from: NOBODY,
    fromIndex: 0,
    to: NOBODY,
    toIndex: 0,
    amount: quanta(0n),
    market: null,
    signer: NOBODY,
    nonce: 0n,
    expiresAtMs: 0n,
  },
  pass: (io, atUs, c) => {
    return {
      kind: 'transfer',
      timeUs: atUs,
      from: address(io.text('from', c.from)),
      fromIndex: io.uint('fromIndex', c.fromIndex),
      to: address(io.text('to', c.to)),
      toIndex: io.uint('toIndex', c.toIndex),
      amount: quanta(io.i64('amount', c.amount)),
      market: io.optionalUint('market', c.market) as MarketId | null,
      signer: address(io.text('signer', c.signer)),
      nonce: io.i64('nonce', c.nonce),
      expiresAtMs: io.i64('expiresAtMs', c.expiresAtMs),
    };
  },
};

export const setSelfTradeMode: CommandFields<SetSelfTradeMode> = {
  empty: {
    kind: 'setSelfTradeMode',
    timeUs: ANY_TIME,
    account: NOBODY,
    mode: null,
  },
  pass: (io, atUs, c) => {
    return {
      kind: 'setSelfTradeMode',
      timeUs: atUs,
      account: address(io.text('account', c.account)),
      mode: io.optionalUint('mode', c.mode) as SelfTradeMode | null,
    };
  },
};

export const updateMargin: CommandFields<UpdateMargin> = {
  empty: {
    kind: 'updateMargin',
    timeUs: ANY_TIME,
    subaccount: subaccountId(0),
    market: marketId(0),
    isolated: false,
    marginPpm: ppm(0),
    nonce: 0n,
    expiresAtMs: 0n,
    delegate: null,
  },
  pass: (io, atUs, c) => {
    return {
      kind: 'updateMargin',
      timeUs: atUs,
      subaccount: subaccountId(io.uint('subaccount', c.subaccount)),
      market: marketId(io.uint('market', c.market)),
      isolated: io.bool('isolated', c.isolated),
      marginPpm: ppm(io.uint('marginPpm', c.marginPpm)),
      nonce: io.i64('nonce', c.nonce),
      expiresAtMs: io.i64('expiresAtMs', c.expiresAtMs),
      delegate: io.optionalUint('delegate', c.delegate) as AccountId | null,
    };
  },
};

export const updateDelegate: CommandFields<UpdateDelegate> = {
  empty: {
    kind: 'updateDelegate',
    timeUs: ANY_TIME,
    account: NOBODY,
    subaccountIndex: 0,
    delegate: NOBODY,
    delegated: false,
    nonce: 0n,
    expiresAtMs: 0n,
  },
  pass: (io, atUs, c) => {
    return {
      kind: 'updateDelegate',
      timeUs: atUs,
      account: address(io.text('account', c.account)),
      subaccountIndex: io.uint('subaccountIndex', c.subaccountIndex),
      delegate: address(io.text('delegate', c.delegate)),
      delegated: io.bool('delegated', c.delegated),
      nonce: io.i64('nonce', c.nonce),
      expiresAtMs: io.i64('expiresAtMs', c.expiresAtMs),
    };
  },
};

export const updateSigners: CommandFields<UpdateSigners> = {
  empty: {
    kind: 'updateSigners',
    timeUs: ANY_TIME,
    account: NOBODY,
    signers: [],
    quorum: 0,
    nonce: 0n,
    expiresAtMs: 0n,
  },
  pass: (io, atUs, c) => {
    return {
      kind: 'updateSigners',
      timeUs: atUs,
      account: address(io.text('account', c.account)),
      signers: io.texts('signers', c.signers).map(address),
      quorum: io.uint('quorum', c.quorum),
      nonce: io.i64('nonce', c.nonce),
      expiresAtMs: io.i64('expiresAtMs', c.expiresAtMs),
    };
  },
};
