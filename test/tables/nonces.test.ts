/** Windows of nonces. */
import { expect, test } from 'vitest';
import { NonceCells } from '../../src/engine/accounts/nonce-cells.ts';
import { NonceScope } from '../../src/engine/accounts/nonces.ts';
import { checkNonce, closeWindow, takeNonce } from '../../src/oracle/nonces.ts';

const DELEGATE = 5;

test('orders signed before a revocation stay invalid after a new grant, also when the full window advances', () => {
  const scope = new NonceScope(new NonceCells());
  const oracle: Parameters<typeof checkNonce>[0] = [];
  const use = (nonce: bigint): void => {
    scope.use(DELEGATE, nonce);
    takeNonce(oracle, DELEGATE, nonce);
  };
  for (let nonce = 0n; nonce < 2048n; nonce += 2n) use(nonce);
  scope.revoke(DELEGATE);
  closeWindow(oracle, DELEGATE);
  use(3000n);
  for (const unsent of [1n, 3n, 1999n, 2045n]) {
    expect(scope.check(DELEGATE, unsent)).toEqual({ code: 'nonce_too_low' });
    expect(checkNonce(oracle, DELEGATE, unsent)).toBe('nonce_too_low');
  }
  expect(scope.check(DELEGATE, 2047n)).toBeNull();
});
