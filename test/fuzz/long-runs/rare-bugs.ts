/**
 * Bugs that show at rare values only, so that a run has thousands of commands before its failure.
 * `least` is the number of commands of the shortest known journal, and `because` lists them.
 */
import type { ProfileName } from '../../../src/fuzz/profile.ts';
import type { CheckName } from '../../../src/fuzz/checks/checks.ts';
import type { SourceEdit } from '../../mutants/mutant.ts';

export interface RareBug extends SourceEdit {
  readonly id: string;
  readonly check: CheckName;
  readonly profile: ProfileName;
  readonly least: number;
  readonly because: string;
}

export const RARE_BUGS: readonly RareBug[] = [
  {
    id: 'rare-size-pays-no-fee',
    file: 'engine/accounts/order-fees.ts#OrderFees.set',
    find: 'feeMoney(size, price, unit, this.isMaker ? spec.makerFeePpm : spec.takerFeePpm)',
    replace:
      'size % 7919 === 11 ? NO_MONEY : feeMoney(size, price, unit, this.isMaker ? spec.makerFeePpm : spec.takerFeePpm)',
    check: 'oracle',
    profile: 'matching',
    least: 6,
    because: 'a market, two deposits, an index, and two orders that meet',
  },
  {
    id: 'rare-nonce-is-refused',
    file: 'engine/accounts/nonces.ts#NonceScope.check',
    find: 'if (delegate === null && delegates === null && this.isAbove(nonce)) return null;',
    replace: "if (nonce % 13001n === 5n) return { code: 'nonce_used' };",
    check: 'oracle',
    profile: 'swarm',
    least: 3,
    because: 'a market, a deposit, and an order',
  },
  {
    id: 'rare-withdrawal-stays-in-net-deposits',
    file: 'engine/accounts/custody.ts#withdraw',
    find: 'from.netDeposits - command.amount',
    replace: 'from.netDeposits - command.amount + (command.amount % 1009n === 7n ? 1n : 0n)',
    check: 'oracle',
    profile: 'money',
    least: 2,
    because: 'a deposit and a withdrawal',
  },
  {
    id: 'rare-equity-is-safe',
    file: 'engine/margin/risk-unit.ts#isBelowMaintenance',
    find: 'equity < maintenance',
    replace: 'equity < maintenance && equity % 401n !== 7n',
    check: 'oracle',
    profile: 'stress',
    least: 7,
    because: 'a market, two deposits, an index, two orders that meet, and another index',
  },
  {
    id: 'rare-price-is-restored-wrong',
    file: 'engine/snapshot/snapshot.ts#archiveOrder',
    find: 'has ? table.price(saved) : 0',
    replace: 'has ? table.price(saved) + (table.price(saved) % 4001 === 3 ? 1 : 0) : 0',
    check: 'restore',
    profile: 'matching',
    least: 3,
    because: 'a market, a deposit, and an order',
  },
  {
    id: 'rare-price-is-not-hashed',
    file: 'engine/chain-hash/hash-command.ts#hashPlaceOrder',
    find: 'orderWords[9] = order.priceTicks;',
    replace: 'orderWords[9] = order.priceTicks % 4001 === 5 ? 0 : order.priceTicks;',
    check: 'hash',
    profile: 'matching',
    least: 1,
    because: 'an order, which is refused',
  },
  {
    id: 'rare-fill-has-another-fee',
    file: 'gateway/feeds/feed-records.ts#sidesOf',
    find: 'fee: fill.feeQuanta + fill.originatorFeeQuanta',
    replace: 'fee: fill.feeQuanta + fill.originatorFeeQuanta + (fill.lots % 4001 === 13 ? 1n : 0n)',
    check: 'feeds',
    profile: 'matching',
    least: 6,
    because: 'a market, two deposits, an index, and two orders that meet',
  },
  {
    id: 'rare-deposit-mints-more',
    file: 'engine/vault/vault.ts#sharesMinted',
    find: '(value + VIRTUAL)',
    replace: '(value + VIRTUAL) + (amount % 211n === 7n ? 1n : 0n)',
    check: 'oracle',
    profile: 'money',
    least: 2,
    because: 'a deposit to an account, and one to the vault',
  },
  {
    id: 'rare-settled-size-is-reported',
    file: 'gateway/encode.ts#encodeOrder',
    find: 'settled: sizeText(market, order.settledLots)',
    replace:
      'settled: sizeText(market, order.settledLots % 4001 === 13 ? order.remainingLots : order.settledLots)',
    check: 'feeds',
    profile: 'matching',
    least: 6,
    because: 'a market, two deposits, an index, and two orders that meet',
  },
  {
    id: 'rare-payment-of-funding',
    file: 'engine/funding/funding.ts#fundingPayment',
    find: 'const whole = (product - remainder) / PPB;',
    replace: 'const whole = (product - remainder) / PPB + (size % 1009 === 13 ? 1 : 0);',
    check: 'oracle',
    profile: 'swarm',
    least: 7,
    because: 'a market, two deposits, an index, two orders that meet, and a settlement',
  },
  {
    id: 'rare-volume-of-a-candle',
    file: 'gateway/market-data.ts#encodeCandle',
    find: 'volume: sizeText(market, candle.volumeLots)',
    replace: 'volume: sizeText(market, candle.volumeLots % 4001n === 13n ? 0n : candle.volumeLots)',
    check: 'feeds',
    profile: 'matching',
    least: 6,
    because: 'a market, two deposits, an index, and two orders that meet',
  },
  {
    id: 'rare-cost-of-a-partial-close',
    file: 'engine/accounts/positions.ts#closedMoney',
    find: 'closed === size',
    replace: 'closed === size || closed % 1009 === 13',
    check: 'oracle',
    profile: 'swarm',
    least: 5,
    because: 'a recorded market, a bar, a trade, an added order, and its execution',
  },
  {
    id: 'rare-limit-of-a-liquidation',
    file: 'engine/liquidation/liquidation-order.ts#engineLimit',
    find: 'Math.max(band, limit, near, 1)',
    replace: '(Math.max(band, limit, near, 1) + (limit % 211 === 13 ? 1 : 0))',
    check: 'oracle',
    profile: 'stress',
    least: 7,
    because: 'a market, two deposits, an index, two orders that meet, and another index',
  },
];
