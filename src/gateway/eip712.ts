/** EIP-712 domain and structs of GET /config: the contract's fields in order. */
import type { ExchangeConfig } from '../engine/config.ts';

export function eip712Domain(
  config: Pick<ExchangeConfig, 'name' | 'chainId' | 'verifyingContract'>,
): Record<string, unknown> {
  return {
    name: config.name,
    version: '1',
    chainId: config.chainId,
    verifyingContract: config.verifyingContract,
  };
}

interface TypedField {
  readonly name: string;
  readonly type: string;
}
const field = (name: string, type: string): TypedField => ({ name, type });

export const DOMAIN_FIELDS: readonly TypedField[] = [
  field('name', 'string'),
  field('version', 'string'),
  field('chainId', 'uint256'),
  field('verifyingContract', 'address'),
];

export const EIP712_TYPES: Readonly<Record<string, readonly TypedField[]>> = {
  Flags: [field('ioc', 'bool'), field('postOnly', 'bool'), field('reduceOnly', 'bool')],
  Attached: [
    field('triggerPrice', 'string'),
    field('price', 'string'),
    field('clientId', 'string'),
  ],
  Order: [
    field('account', 'address'),
    field('subaccountIndex', 'uint32'),
    field('symbol', 'string'),
    field('orderType', 'string'),
    field('price', 'string'),
    field('quantity', 'string'),
    field('nonce', 'uint64'),
    field('expiresAt', 'uint64'),
    field('originator', 'address'),
    field('originatorFee', 'uint64'),
    field('flags', 'Flags'),
    field('clientId', 'string'),
    field('triggerPrice', 'string'),
    field('parentOrderId', 'string'),
    field('period', 'uint64'),
    field('trailingPercent', 'string'),
    field('takeProfit', 'Attached'),
    field('stopLoss', 'Attached'),
  ],
  Delegate: [
    field('account', 'address'),
    field('delegate', 'address'),
    field('delegated', 'bool'),
    field('expiresAt', 'uint64'),
    field('nonce', 'uint64'),
    field('subaccountIndex', 'uint32'),
  ],
  Transfer: [
    field('accountFrom', 'address'),
    field('accountTo', 'address'),
    field('amount', 'string'),
    field('expiresAt', 'uint64'),
    field('feedId', 'string'),
    field('nonce', 'uint64'),
    field('subaccountIndexFrom', 'uint32'),
    field('subaccountIndexTo', 'uint32'),
    field('target', 'address'),
  ],
  Signers: [
    field('account', 'address'),
    field('expiresAt', 'uint64'),
    field('nonce', 'uint64'),
    field('quorum', 'uint64'),
    field('signers', 'address[]'),
  ],
  Margin: [
    field('account', 'address'),
    field('expiresAt', 'uint64'),
    field('isolated', 'bool'),
    field('margin', 'string'),
    field('nonce', 'uint64'),
    field('subaccountIndex', 'uint32'),
    field('symbol', 'string'),
  ],
};
