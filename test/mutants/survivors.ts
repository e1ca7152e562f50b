/** Why a mutant lives on, for those that do: what would have to be reached, or why nobody could tell. */
export const SURVIVORS: Readonly<Record<string, string>> = {
  'leg-fires-again-as-new':
    'shows only when a leg that took a part of its size and was stopped (band, self-trade, margin) fires again and then rests without another fill: 2 of 1,968 releases in 60,000 commands',
  'fill-fee-forgotten':
    'admission counts the same fee, so it shows only when what an ioc order loses against the mark leaves less than the fee itself',
  'reducing-into-debt':
    'shows only when somebody in debt is filled before being liquidated: by a trigger in the instant in which the mark jumps, or while an index is stale',
};
