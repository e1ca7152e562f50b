import type { EngineEvent } from '../../engine/events.ts';
import { StreamInvariant } from './stream-invariant.ts';

/** Size of a nonce window: within it, no identity of a scope may reuse another's nonce. */
const WINDOW = 1024;

/** Order nonces per subaccount and signing identity; other nonces per account. */
export class Nonces extends StreamInvariant {
  readonly name = 'nonceNeverReused';
  readonly rule = 'R-2.13';
  readonly says =
    'an identity never uses a nonce twice in one scope, nor one that another identity used recently';
  private readonly accounts = new Map<number, Scope>();
  private readonly subaccounts = new Map<number, Scope>();

  see(event: EngineEvent): void {
    if (event.kind === 'nonceUsed') {
      const scope = scopeOf(this.accounts, event.account);
      if (!isNew(scope, OWNER, event.nonce)) {
        this.reused(`account ${event.account}`, event.nonce, event.seq);
      }
    }
    if (event.kind !== 'orderAccepted' && event.kind !== 'orderRejected') return;
    // Protective orders share the nonce of their submit; system orders have none.
    if (event.cause !== 'command' || isLeg(event.orderType)) return;
    const scope = scopeOf(this.subaccounts, event.subaccount);
    if (!isNew(scope, event.delegate ?? OWNER, event.nonce)) {
      this.reused(`subaccount ${event.subaccount}`, event.nonce, event.seq);
    }
  }

  private reused(scope: string, nonce: bigint, seq: number): void {
    this.fail(`command ${seq}: nonce ${nonce} of ${scope} was used before`);
  }
}

/** Used nonces of a scope, in total and by identity. */
interface Scope {
  readonly all: Set<bigint>;
  readonly own: Map<number, Set<bigint>>;
}

/** Identity of the owner's signer set; other identities are account ids. */
const OWNER = -1;

/** Records the nonce; returns true if this identity may use it. */
function isNew({ all, own }: Scope, identity: number, nonce: bigint): boolean {
  let used = own.get(identity);
  if (used === undefined) {
    used = new Set();
    own.set(identity, used);
  }
  const reused = used.has(nonce) || (all.size < WINDOW && all.has(nonce));
  used.add(nonce);
  all.add(nonce);
  return !reused;
}

const isLeg = (type: string): boolean => type === 'takeProfit' || type === 'stopLoss';

function scopeOf(scopes: Map<number, Scope>, id: number): Scope {
  let found = scopes.get(id);
  if (found === undefined) {
    found = { all: new Set(), own: new Map() };
    scopes.set(id, found);
  }
  return found;
}
