/** Style sheet of the report: tabular figures, light and dark by the reader's setting. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --ink: #1d2328; --soft: #5c656c; --rule: #d9d6cd; --panel: #ffffff;
  --buy: #0b7a53; --sell: #b3372f; --line: #23527c; --equity: #5b3f8c; --fall: #b3372f; --hold: #9a6b12;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171a; --ink: #e4e2dc; --soft: #9aa3aa; --rule: #31373c; --panel: #1a1e22;
    --buy: #45b88a; --sell: #e57a70; --line: #7fb2e0; --equity: #b39be0; --fall: #e57a70; --hold: #d9a545;
  }
}
* { box-sizing: border-box; }
html { background: var(--paper); color: var(--ink); }
body {
  margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: 74rem;
  font: 15px/1.5 "Iowan Old Style", "Palatino Linotype", Palatino, Georgia, serif;
  font-variant-numeric: tabular-nums lining-nums;
}
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .25rem; font-weight: 600; }
h2 { font-size: 1.1rem; margin: 2.5rem 0 .75rem; padding-top: .6rem; border-top: 1px solid var(--rule); font-weight: 600; }
p { margin: .4rem 0; max-width: 46rem; }
.lede { color: var(--soft); margin-bottom: 1.75rem; }
code, .hash { font: 12.5px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); gap: 1px; margin: 0; }
.figures div { background: var(--panel); padding: .65rem .85rem; outline: 1px solid var(--rule); }
.figures dt { color: var(--soft); font-size: .84rem; }
.figures dd { margin: .1rem 0 0; font-size: 1.15rem; }
.gain { color: var(--buy); } .loss { color: var(--sell); }
.notes { display: grid; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr)); gap: .4rem 2rem; margin: 0; }
.notes dt { font-weight: 600; } .notes dd { margin: 0 0 .6rem; color: var(--soft); overflow-wrap: anywhere; }
.curves { height: 56rem; border: 1px solid var(--rule); background: var(--panel); }
.small { border: 1px solid var(--rule); background: var(--panel); padding: .5rem; min-height: 17rem; }
p.caption { color: var(--soft); font-size: .84rem; margin: .3rem 0 0; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1.25rem; align-items: start; }
.columns.pairs { grid-template-columns: repeat(2, minmax(0, 1fr)); }
.columns > * { min-width: 0; }
.columns.tall .table { max-height: none; }
.warning { color: var(--sell); }
h3 { font-size: 1rem; margin: 1.75rem 0 .5rem; font-weight: 600; }
h2.strategy { font-size: 1.35rem; }
.uplot { font: inherit; } .u-legend { color: var(--soft); font-size: .84rem; text-align: left; }
.bars small { color: var(--soft); } .bars td { vertical-align: middle; }
.bars .bar { position: relative; width: 45%; background: linear-gradient(var(--rule), var(--rule)) center / 1px 100% no-repeat; }
.bars .bar i { position: absolute; top: 22%; height: 56%; background: currentColor; opacity: .75; }
.bars .total td { border-top: 2px solid var(--rule); font-weight: 600; }
.months td, .months th { text-align: center !important; padding: .3rem .35rem; font-size: .84rem; }
.legend { display: flex; flex-wrap: wrap; gap: .35rem 1.25rem; margin: 0 0 .6rem; padding: 0; list-style: none; color: var(--soft); font-size: .9rem; }
.legend b { display: inline-block; width: .8rem; height: .8rem; margin-right: .4rem; vertical-align: -1px; border-radius: 2px; }
.table { overflow-x: auto; max-height: 26rem; border: 1px solid var(--rule); background: var(--panel); }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: right; padding: .28rem .8rem; white-space: nowrap; border-bottom: 1px solid var(--rule); }
th { position: sticky; top: 0; background: var(--panel); color: var(--soft); font-weight: 600; }
th.text, td.text { text-align: left; }
td.long { white-space: normal; min-width: 18rem; }
tr:last-child td { border-bottom: 0; }
label { display: block; margin: 0 0 .6rem; color: var(--soft); font-size: .9rem; }
input, select { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--rule); padding: .3rem .55rem; width: 16rem; max-width: 100%; }
.table:focus-visible, input:focus-visible, select:focus-visible, a:focus-visible { outline: 2px solid var(--line); outline-offset: 2px; }
pre { background: var(--panel); border: 1px solid var(--rule); padding: .7rem .9rem; overflow-x: auto; margin: .5rem 0; }
footer { margin-top: 3rem; color: var(--soft); font-size: .88rem; }
@media (max-width: 40rem) { .columns.pairs { grid-template-columns: minmax(0, 1fr); } body { padding: 1.25rem .9rem 3rem; } .curves { height: 44rem; } }
@media print { html { background: #fff; } .table { max-height: none; } label { display: none; } }
`;
