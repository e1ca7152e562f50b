/** windows of the 1,024 highest nonces; a nonce is new in its scope and above its floor. */
import type { Answer, NonceScope } from './world.ts';

const KEPT = 1024;

function windowOf(scope: NonceScope, signer: number | null): NonceScope[number] {
  let window = scope.find((other) => other.signer === signer);
  if (window === undefined) {
    window = { signer, used: [], floor: -1n };
    scope.push(window);
  }
  return window;
}

export function checkNonce(scope: NonceScope, signer: number | null, nonce: bigint): Answer {
  if (scope.some(({ used }) => used.includes(nonce))) return 'nonce_used';
  return nonce <= windowOf(scope, signer).floor ? 'nonce_too_low' : 'ok';
}

export function takeNonce(scope: NonceScope, signer: number | null, nonce: bigint): void {
  const window = windowOf(scope, signer);
  window.used.push(nonce);
  if (window.used.length <= KEPT) return;
  const lowest = window.used.reduce((a, b) => (a < b ? a : b));
  window.used.splice(window.used.indexOf(lowest), 1);
  // A floor never falls: a revocation may have set it above the dropped nonce.
  if (lowest > window.floor) window.floor = lowest;
}

/** A revoked delegate restarts above all nonces that it used. */
export function closeWindow(scope: NonceScope, signer: number): void {
  const window = windowOf(scope, signer);
  for (const nonce of window.used) if (nonce > window.floor) window.floor = nonce;
}
