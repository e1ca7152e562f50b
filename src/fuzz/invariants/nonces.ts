import type { EngineEvent } from '../../engine/events.ts';
import { StreamInvariant } from './stream-invariant.ts';

/** A window holds so many: within it no identity of a scope may use what another has used. */
const WINDOW = 1024;

/** Orders' nonces per subaccount and signing identity, other requests' per account. */
export class Nonces extends StreamInvariant {
  readonly name = 'nonceNeverReused';
  readonly rule = 'R-2.13';
  readonly says =
    'an identity never uses a nonce twice in one scope, nor one that another used lately';
  private readonly used = new Map<string, Set<bigint>>();
  private readonly scopes = new Map<string, Set<bigint>>();

  see(event: EngineEvent): void {
    if (event.kind === 'nonceUsed')
      this.use(`account ${event.account}`, '', event.nonce, event.seq);
    if (event.kind !== 'orderAccepted' && event.kind !== 'orderRejected') return;
    // Legs of one submit share its nonce, and orders of the exchange itself have none; both come with another cause or type.
    if (event.cause !== 'command' || isLeg(event.orderType)) return;
    this.use(`subaccount ${event.subaccount}`, String(event.delegate), event.nonce, event.seq);
  }

  private use(scope: string, identity: string, nonce: bigint, seq: number): void {
    const own = setOf(this.used, `${scope} ${identity}`);
    const all = setOf(this.scopes, scope);
    if (own.has(nonce) || (all.size < WINDOW && all.has(nonce))) {
      this.fail(`command ${seq}: nonce ${nonce} of ${scope} was used before`);
    }
    own.add(nonce);
    all.add(nonce);
  }
}

const isLeg = (type: string): boolean => type === 'takeProfit' || type === 'stopLoss';

function setOf(sets: Map<string, Set<bigint>>, key: string): Set<bigint> {
  const found = sets.get(key) ?? new Set<bigint>();
  sets.set(key, found);
  return found;
}
