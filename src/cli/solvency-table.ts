/** Terminal tables after a run with liquidations: payers, and the assets behind all claims. */
import Table from 'cli-table3';
import type { Payer, SolvencyReport } from './solvency-report.ts';

const STEP_TEXT: Readonly<Record<Payer, string>> = {
  book: 'sold to or bought from the book',
  takeover: 'vault take-over, paid to the vault',
  insurance: 'insurance, paid',
  adl: 'auto-deleveraging, charged',
  shortfall: 'added to the shortfall',
  fee: 'liquidation fee, to insurance',
};

const STYLE = { head: [], border: [], compact: true };

export function payersTable({ payers }: SolvencyReport): string {
  const table = new Table({
    head: ['Payer', 'step', 'units', 'quantity', 'notional', 'amount'],
    colAligns: ['left', 'left', 'right', 'right', 'right', 'right'],
    style: STYLE,
  });
  for (const { market, step, units, quantity, notional, amount } of payers) {
    const moved = quantity === null ? ['', ''] : [quantity, notional];
    table.push([market, STEP_TEXT[step], String(units), ...moved, step === 'book' ? '' : amount]);
  }
  return table.toString();
}

export function solvencyTable(report: SolvencyReport): string {
  const { shortfall, insurance, vault } = report;
  const table = new Table({
    head: ['Solvency', ''],
    colAligns: ['left', 'right'],
    style: STYLE,
  });
  const positions = Object.entries(vault.positions).map(([symbol, held]) => `${held} ${symbol}`);
  const commands = String(report.checkedCommands);
  table.push(
    ['shortfall: begun', shortfall.begun],
    ['shortfall: from withdrawals', shortfall.paidByWithdrawals],
    ['shortfall: paid by insurance', shortfall.paidByInsurance],
    ['shortfall: repaid after a freeze', shortfall.repaid],
    ['shortfall: left', shortfall.left],
    ['insurance: deposited', insurance.deposits],
    ['insurance: fees and other income', insurance.income],
    ['insurance: paid', insurance.paid],
    ['insurance: left', insurance.left],
    ['vault: deposits minus withdrawals', vault.deposits],
    ['vault: cash', vault.cash],
    ['vault: positions', positions.length === 0 ? 'none' : positions.join('\n')],
    ['vault: net asset value', vault.value],
    ['deposits − withdrawals', report.depositsLessWithdrawals],
    ['cash and positions at cost, minus deposits (R-1.6)', report.conservationDifference],
    ['equity at marks, minus deposits (R-1.6a)', report.equityDifference],
    [`R-1.6a after each of ${commands} commands`, report.invariantsHeld ? 'held' : 'BROKEN'],
  );
  return table.toString();
}
