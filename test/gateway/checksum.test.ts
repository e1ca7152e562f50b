/** A mixed-case address needs a correct checksum (R-5.9; EIP-55's own examples). */
import { getAddress } from 'ethers';
import { expect, test } from 'vitest';
import { isChecksumRight } from '../../src/gateway/checksum.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { RiskWorld } from '../engine/risk-world.ts';

// https://eips.ethereum.org/EIPS/eip-55, "Test Cases".
const PUBLISHED = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
];

test.each(PUBLISHED)('%s is correct', (address) => {
  expect(isChecksumRight(address, keccak)).toBe(true);
  expect(isChecksumRight(address.toLowerCase(), keccak)).toBe(true);
  expect(isChecksumRight(`0x${address.slice(2).toUpperCase()}`, keccak)).toBe(true);
});

test.each(PUBLISHED.slice(4))('%s with one letter in the other case is wrong', (address) => {
  const at = address.search(/[a-fA-F]/);
  const letter = address.charAt(at);
  const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
  const wrong = address.slice(0, at) + other + address.slice(at + 1);
  expect(isChecksumRight(wrong, keccak)).toBe(false);
});

test('a transfer, an order and a delegate require correct checksums', () => {
  const world = new RiskWorld([{}]);
  world.fund({ ann: '100', bob: '100' });
  world.price('100');
  const right = getAddress(world.addressOf('bob'));
  const at = 2 + right.slice(2).search(/[a-f]/);
  const wrong = right.slice(0, at) + right.charAt(at).toUpperCase() + right.slice(at + 1);
  const refusal = (name: string): string =>
    `400 ${name}: has a wrong checksum (EIP-55); send it in lower case to skip the check`;
  const transferTo = (accountTo: string): string =>
    world.answer('transfer', world.transferBody('ann', 'bob', '1', { accountTo }), 'ann');
  expect(transferTo(right)).toBe('ok');
  expect(transferTo(`0x${right.slice(2).toUpperCase()}`)).toBe('ok');
  expect(transferTo(wrong)).toBe(refusal('accountTo'));
  const order = world.orderBody('ann', { originator: wrong, originatorFee: 10 });
  expect(world.answer('submitOrder', order, 'ann')).toBe(refusal('originator'));
  const delegate = world.delegateBody('ann', 'bob', true, { delegate: wrong });
  expect(world.answer('updateDelegates', delegate, 'ann')).toBe(refusal('delegate'));
  const signers = world.signersBody('ann', ['ann', 'bob'], 1, { signers: [wrong] });
  expect(world.answer('updateSigners', signers, 'ann')).toBe(refusal('signers[0]'));
});
