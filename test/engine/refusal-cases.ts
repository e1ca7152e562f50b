/**
 * Refusals and end reasons that require margin, funding, vault or permissions; codes.test.ts checks
 * the list.
 */
export const RISK_CODES: readonly string[] = [
  'not_delegated',
  'margin_out_of_range',
  'margin_below_initial',
  'margin_mode_in_use',
  'margin_insufficient',
  'delegate_not_allowed',
  'too_many_delegates',
  'signers_count',
  'signers_not_distinct',
  'quorum_out_of_range',
  'vault_deposit_too_small',
  'vault_shares_insufficient',
  'vault_shares_locked',
  'vault_value_not_positive',
  'vault_shares_zero',
  'funding_source_not_external',
  'funding_rate_out_of_range',
  'index_not_fresh',
  'liquidation',
  'adl',
];
