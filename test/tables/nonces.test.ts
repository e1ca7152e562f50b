/** Windows of nonces. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ArchiveReader, ArchiveWriter } from '../../src/base/archive.ts';
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

function bytesOf(scope: NonceScope): Uint8Array {
  const io = new ArchiveWriter();
  scope.archive(io);
  return io.bytes();
}

function restored(scope: NonceScope, cells: NonceCells): NonceScope {
  const loaded = new NonceScope(cells);
  loaded.archive(new ArchiveReader(bytesOf(scope)));
  return loaded;
}

const signers = fc.constantFrom(null, DELEGATE, DELEGATE + 1);
const steps = fc.array(
  fc.oneof(
    // Runs of up to 600 nonces fill a window.
    fc.record({ signer: signers, from: fc.nat(4000), run: fc.nat(600) }),
    fc.record({ signer: signers, from: fc.bigInt(0n, 2n ** 63n - 1n), run: fc.constant(0) }),
    fc.constantFrom('restore', 'revoke'),
  ),
  { maxLength: 12 },
);

test('a restored window, which stays encoded until its first use, is like one that never was', () => {
  fc.assert(
    fc.property(steps, fc.boolean(), (made, shares) => {
      const plain = new NonceScope(new NonceCells());
      const cells = new NonceCells();
      let scope = new NonceScope(cells);
      for (const step of made) {
        if (step === 'restore') scope = restored(scope, shares ? cells : new NonceCells());
        else if (step === 'revoke') [plain, scope].forEach((one) => one.revoke(DELEGATE));
        else {
          const { signer, from, run } = step;
          for (let i = 0; i <= run; i++) {
            const nonce = BigInt(from) + BigInt(3 * i);
            const answer = plain.check(signer, nonce);
            expect(scope.check(signer, nonce)).toEqual(answer);
            if (answer === null) [plain, scope].forEach((one) => one.use(signer, nonce));
          }
        }
        expect(bytesOf(scope)).toEqual(bytesOf(plain));
      }
    }),
    { seed: 1, numRuns: 50 },
  );
});
