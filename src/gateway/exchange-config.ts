/**
 * Parameters of the exchange from decimal text, with the rulebook's defaults (R-1.2, §6). Errors
 * name the field and the limit.
 */
import { configHash } from '../engine/snapshot/config-archive.ts';
import type { ExchangeConfig } from '../engine/config.ts';
import { address, durationUs, ppm, quanta, timeUs } from '../num/units.ts';
import { amount, count, flag, millis, rate, samplingSeed, word } from './config-values.ts';
import { Fields } from './fields.ts';
import { parsed, type Parsed } from './parsed.ts';
import type { Keccak } from './ports.ts';

export const DEFAULT_EXCHANGE_CONFIG: ExchangeConfig = {
  name: 'Orrery',
  chainId: 1337,
  verifyingContract: address('0x0000000000000000000000000000000000000000'),
  genesisTimeUs: timeUs(1_704_067_200_000_000),
  cashFeedId: '0x0000000000000000000000000000000000000000000000000000000000000000',
  clsAccount: address('0xc15c15c15c15c15c15c15c15c15c15c15c15c15c'),
  insuranceAccount: address('0x1150000000000000000000000000000000000001'),
  treasuryAccount: address('0x7ea5000000000000000000000000000000000001'),
  shortfallAccount: address('0x5f00000000000000000000000000000000000001'),
  samplingSeed: '0000000000000000',
  selfTradeExpire: 0,
  triggerSource: 'mark',
  indexStaleUs: durationUs(60_000_000),
  frozenHaircutPpm: ppm(500_000),
  maxOriginatorFeePpm: ppm(1000),
  maxDelegateOriginatorFeePpm: ppm(100),
  vaultFeeSharePpm: ppm(500_000),
  insuranceFeeSharePpm: ppm(200_000),
  insuranceHourlyPpm: ppm(250_000),
  liquidationFeePpm: ppm(5000),
  partialLiquidationNotional: quanta(100_000_000_000n),
  liquidationSlicePpm: ppm(200_000),
  liquidationPauseUs: durationUs(30_000_000),
  minVaultDeposit: quanta(10_000_000n),
  vaultLockupUs: durationUs(4 * 86_400_000_000),
  vaultLeavePpm: ppm(50_000),
  termsNoticeUs: durationUs(86_400_000_000),
  marketDataTimeUnit: 'ms',
  orderTypeCase: 'camel',
  rateLimit: false,
  retention: {
    tradesPerMarket: 100_000,
    candleMinutesPerMarket: 64_800,
    endedOrdersPerAccount: 10_000,
    transfersPerSubaccount: 10_000,
    vaultSnapshotsPerHolder: 10_000,
  },
};

const EXCHANGE_FIELDS = [
  'name',
  'chainId',
  'verifyingContract',
  'clsAccount',
  'cashFeedId',
  'rateLimit',
  'selfTradeExpire',
  'triggerSource',
  'indexStaleMs',
  'samplingSeed',
  'frozenHaircut',
  'insuranceHourly',
  'vaultLeaveShare',
  'termsNoticeMs',
  'maxOriginatorFeePpm',
  'maxDelegateOriginatorFeePpm',
  'vaultFeeShare',
  'insuranceFeeShare',
  'liquidationFee',
  'partialLiquidationNotional',
  'liquidationSlice',
  'liquidationPauseMs',
  'minVaultDeposit',
  'vaultLockupMs',
  'marketDataTimeUnit',
  'orderTypeCase',
  'retention',
];
const RETENTION_FIELDS = [
  'tradesPerMarket',
  'candleMinutesPerMarket',
  'endedOrdersPerAccount',
  'transfersPerSubaccount',
  'vaultSnapshotsPerHolder',
];

/** Min retained records: a reply includes orders that its own command ended. */
const MIN_RETAINED: Readonly<Record<keyof ExchangeConfig['retention'], number>> = {
  tradesPerMarket: 1,
  candleMinutesPerMarket: 1,
  endedOrdersPerAccount: 1000,
  transfersPerSubaccount: 1,
  vaultSnapshotsPerHolder: 1,
};

/** Exchange parameters: the given values over the defaults. `keccak` checks address checksums. */
export function parseExchangeConfig(
  input: unknown,
  genesisTimeUs = DEFAULT_EXCHANGE_CONFIG.genesisTimeUs,
  keccak?: Keccak,
): Parsed<ExchangeConfig> {
  return parsed(() => {
    const fields = new Fields(input, EXCHANGE_FIELDS, true, 'config');
    const base = DEFAULT_EXCHANGE_CONFIG;
    const retention = fields.has('retention') ? fields.object('retention', RETENTION_FIELDS) : null;
    const kept = (name: keyof ExchangeConfig['retention']): number =>
      retention?.has(name) === true
        ? count(retention, name, MIN_RETAINED[name], 1e8)
        : base.retention[name];
    const config: ExchangeConfig = {
      ...base,
      genesisTimeUs,
      name: fields.has('name') ? fields.symbol('name') : base.name,
      chainId: fields.has('chainId') ? count(fields, 'chainId', 0, 2 ** 31) : base.chainId,
      verifyingContract: fields.has('verifyingContract')
        ? fields.address('verifyingContract', keccak)
        : base.verifyingContract,
      clsAccount: fields.has('clsAccount') ? fields.address('clsAccount', keccak) : base.clsAccount,
      cashFeedId: fields.has('cashFeedId') ? fields.feedId('cashFeedId') : base.cashFeedId,
      rateLimit: flag(fields, 'rateLimit', base.rateLimit),
      selfTradeExpire: fields.has('selfTradeExpire')
        ? (count(fields, 'selfTradeExpire', 0, 2) as 0 | 1 | 2)
        : base.selfTradeExpire,
      indexStaleUs: fields.has('indexStaleMs')
        ? durationUs(count(fields, 'indexStaleMs', 1, 1e10) * 1000)
        : base.indexStaleUs,
      samplingSeed: fields.has('samplingSeed')
        ? samplingSeed(fields, 'samplingSeed')
        : base.samplingSeed,
      frozenHaircutPpm: rate(fields, 'frozenHaircut', base.frozenHaircutPpm, 0, 1_000_000),
      insuranceHourlyPpm: rate(fields, 'insuranceHourly', base.insuranceHourlyPpm, 0, 1_000_000),
      vaultLeavePpm: rate(fields, 'vaultLeaveShare', base.vaultLeavePpm, 0, 1_000_000),
      termsNoticeUs: millis(fields, 'termsNoticeMs', 0, base.termsNoticeUs),
      maxOriginatorFeePpm: fields.has('maxOriginatorFeePpm')
        ? ppm(count(fields, 'maxOriginatorFeePpm', 0, 100_000))
        : base.maxOriginatorFeePpm,
      maxDelegateOriginatorFeePpm: fields.has('maxDelegateOriginatorFeePpm')
        ? ppm(count(fields, 'maxDelegateOriginatorFeePpm', 0, 100_000))
        : base.maxDelegateOriginatorFeePpm,
      triggerSource: word(fields, 'triggerSource', ['mark', 'index', 'last'], base.triggerSource),
      vaultFeeSharePpm: rate(fields, 'vaultFeeShare', base.vaultFeeSharePpm, 0, 1_000_000),
      insuranceFeeSharePpm: rate(
        fields,
        'insuranceFeeShare',
        base.insuranceFeeSharePpm,
        0,
        1_000_000,
      ),
      liquidationFeePpm: rate(fields, 'liquidationFee', base.liquidationFeePpm, 0, 500_000),
      partialLiquidationNotional: amount(
        fields,
        'partialLiquidationNotional',
        base.partialLiquidationNotional,
      ),
      liquidationSlicePpm: rate(fields, 'liquidationSlice', base.liquidationSlicePpm, 1, 1_000_000),
      liquidationPauseUs: millis(fields, 'liquidationPauseMs', 0, base.liquidationPauseUs),
      minVaultDeposit: amount(fields, 'minVaultDeposit', base.minVaultDeposit),
      vaultLockupUs: millis(fields, 'vaultLockupMs', 0, base.vaultLockupUs),
      marketDataTimeUnit: word(fields, 'marketDataTimeUnit', ['ms', 's'], base.marketDataTimeUnit),
      orderTypeCase: word(fields, 'orderTypeCase', ['camel', 'pascal'], base.orderTypeCase),
      retention: {
        tradesPerMarket: kept('tradesPerMarket'),
        candleMinutesPerMarket: kept('candleMinutesPerMarket'),
        endedOrdersPerAccount: kept('endedOrdersPerAccount'),
        transfersPerSubaccount: kept('transfersPerSubaccount'),
        vaultSnapshotsPerHolder: kept('vaultSnapshotsPerHolder'),
      },
    };
    const others: readonly string[] = [
      config.insuranceAccount,
      config.treasuryAccount,
      config.shortfallAccount,
    ];
    if (others.includes(config.clsAccount)) {
      fields.fail('clsAccount', 'is another account of the exchange');
    }
    if (config.vaultFeeSharePpm + config.insuranceFeeSharePpm > 1_000_000) {
      fields.fail('insuranceFeeShare', 'with vaultFeeShare must be at most 1');
    }
    // Fails here, not when a journal header is written, if the configuration has no canonical form.
    configHash(config);
    return config;
  });
}
