/**
 * Style sheet of the pages: type, tables, layout. Light and dark follow the reader's setting unless
 * the page's switch is used.
 */
import { MONO, SANS, THEME_CSS } from '../design/tokens.ts';

export const PAGE_STYLE = `${THEME_CSS}
* { box-sizing: border-box; }
html { background: var(--bg); color: var(--text); scroll-padding-top: 16px; }
body {
  margin: 0 auto; padding: 24px 24px 40px; max-width: 1360px;
  font: 14px/22px ${SANS};
  font-variant-numeric: tabular-nums lining-nums; overflow-wrap: anywhere;
}
h1 { font-size: 24px; line-height: 30px; margin: 0; font-weight: 600; }
h2 { font-size: 15px; line-height: 22px; margin: 40px 0 12px; padding-top: 12px; border-top: 1px solid var(--line); font-weight: 600; }
h2.strategy { font-size: 20px; line-height: 24px; }
h3 { font-size: 15px; line-height: 22px; margin: 24px 0 8px; font-weight: 600; }
p { margin: 4px 0; max-width: 68ch; }
a { color: var(--accent); }
header { display: grid; grid-template-columns: 1fr auto; gap: 4px 24px; align-items: start; }
.lede { color: var(--text-2); margin: 0; max-width: none; grid-column: 1; }
.verdict { font-size: 15px; max-width: 90ch; margin: 12px 0 0; grid-column: 1; }
.tools { display: flex; gap: 8px; align-items: center; grid-row: 1; grid-column: 2; }
button, .chip {
  font-size: 12px; line-height: 16px; font-family: inherit; color: var(--text-2); background: var(--surface);
  border: 1px solid var(--line-strong); border-radius: 6px; padding: 4px 8px; min-height: 24px; cursor: pointer; text-decoration: none;
}
.chip { display: inline-flex; gap: 4px; align-items: center; border-radius: 4px; } .chip code { font-size: 12px; }
button:hover, .chip:hover { background: var(--hover); color: var(--text); }
code, .hash { font: 12px/18px ${MONO}; }
.rail { display: none; }
.rail a { color: var(--text-2); text-decoration: none; } .rail a:hover { color: var(--accent); }
.figures { display: grid; grid-template-columns: repeat(6, minmax(0, 1fr)); margin: 24px 0; border-top: 1px solid var(--line); border-bottom: 1px solid var(--line); }
.figures div { padding: 12px 16px 12px 0; }
.figures div + div { padding-left: 16px; border-left: 1px solid var(--line); }
.figures div:nth-child(6n+1) { padding-left: 0; border-left: 0; } .figures div:nth-child(n+7) { border-top: 1px solid var(--line); }
.figures dt { color: var(--text-3); font-size: 12px; line-height: 16px; }
.figures dd { margin: 4px 0 0; font-size: 20px; line-height: 24px; font-weight: 600; }
.figures dd small { display: block; font-size: 12px; line-height: 16px; font-weight: 400; color: var(--text-3); }
.gain { color: var(--gain); } .loss { color: var(--loss); }
.warning { color: var(--warn); background: var(--warn-soft); padding: 4px 8px; border-radius: 4px; }
.notes { columns: 3 19rem; column-gap: 24px; margin: 0; } .notes div { break-inside: avoid; }
.notes dt { font-weight: 600; } .notes dd { margin: 0 0 12px; color: var(--text-2); max-width: 68ch; }
.split { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 1fr); gap: 24px; align-items: start; }
.columns h3 { margin-top: 0; } .split h2 { margin-top: 0; padding-top: 0; border-top: 0; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); gap: 24px; align-items: start; margin-top: 24px; }
.columns.pairs { grid-template-columns: repeat(2, minmax(0, 1fr)); }
.columns > *, .split > * { min-width: 0; }
.readout { display: flex; flex-wrap: wrap; gap: 0 16px; margin: 0 0 4px; padding: 0; list-style: none; color: var(--text-2); font-size: 12px; line-height: 16px; max-width: none; min-height: 16px; }
.readout b { font-weight: 600; color: var(--text); }
.readout i { display: inline-block; width: 12px; height: 3px; margin-right: 4px; vertical-align: 3px; background: currentColor; }
.readout i.dashed { background: repeating-linear-gradient(90deg, currentColor 0 3px, transparent 3px 5px); }
.curves { height: 420px; } .curves.price { height: calc(560px + var(--panes, 0) * 90px); }
.curves { position: relative; }
.tip { position: absolute; z-index: 5; pointer-events: none; white-space: pre-line; max-width: 24rem; padding: 4px 8px; font-size: 12px; line-height: 18px; color: var(--text); background: var(--surface); border: 1px solid var(--line-strong); border-radius: 4px; }
.tip[hidden] { display: none; }
.small { min-height: 240px; } .small.overlay { min-height: 320px; }
p.caption { color: var(--text-3); font-size: 12px; line-height: 16px; }
.uplot, .uplot * { font-family: inherit; } 
/* A dark right edge marks columns beyond it. */
.table { position: relative; overflow-x: auto; background: linear-gradient(270deg, var(--bg) 40%, transparent) 100% 0 / 48px 100% no-repeat local, linear-gradient(270deg, color-mix(in srgb, var(--text) 16%, transparent), transparent) 100% 0 / 14px 100% no-repeat scroll; border-top: 1px solid var(--line); border-bottom: 1px solid var(--line); }
table { border-collapse: collapse; width: 100%; font-size: 13px; line-height: 20px; }
caption { text-align: left; }
th, td { text-align: right; padding: 4px 12px; white-space: nowrap; overflow-wrap: normal; border-bottom: 1px solid var(--line); }
th { color: var(--text-3); font-size: 12px; font-weight: 600; }
thead th { white-space: normal; vertical-align: bottom; position: sticky; top: 0; background: var(--bg); z-index: 1; }
thead .whole { white-space: nowrap; }
th.text, td.text { text-align: left; }
th:first-child, td:first-child { padding-left: 0; position: sticky; left: 0; background: var(--bg); }
td.long { white-space: normal; min-width: 18rem; }
td.clipped { max-width: 11rem; overflow: hidden; text-overflow: ellipsis; } tr:has(.clipped ~ .clipped) .clipped { max-width: 9rem; }
table.tight th, table.tight td { padding-left: 6px; padding-right: 6px; } table.tight th:first-child, table.tight td:first-child { padding-left: 0; }
tbody tr:hover td, tbody tr:hover th { background: var(--hover); }
tr:last-child td { border-bottom: 0; }
tr:target td { background: var(--accent-soft); }
th button { border: 0; background: none; padding: 0; min-height: 24px; min-width: 24px; text-align: inherit; font: inherit; color: inherit; }
td > a { display: inline-block; min-width: 24px; padding: 4px 0; margin: -4px 0; }
th[aria-sort=ascending] button::after { content: " ▲"; } th[aria-sort=descending] button::after { content: " ▼"; }
table.cut tbody tr:nth-child(n+13) { display: none; }
.toolbar { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin: 0 0 8px; color: var(--text-3); font-size: 12px; }
.toolbar input { flex: 0 1 16rem; } .toolbar .count { margin-right: auto; }
.bars small { display: block; color: var(--text-3); font-size: 12px; line-height: 16px; white-space: normal; } .bars td { vertical-align: middle; }
.bars .bar { position: relative; width: 35%; background: linear-gradient(var(--line-strong), var(--line-strong)) center / 1px 100% no-repeat; }
.bars .bar i { position: absolute; top: 25%; height: 50%; background: currentColor; }
.bars .total td { border-top: 1px solid var(--line-strong); font-weight: 600; }
canvas.surface { display: block; width: 100%; height: 360px; touch-action: none; cursor: crosshair; }
.detail { margin: 8px 0; padding: 8px 12px; background: var(--accent-soft); border-radius: 6px; } .detail pre { white-space: pre-wrap; } .detail[hidden] { display: none; }
.timeline { margin: 4px 0; padding: 0 0 0 24px; max-width: 90ch; } .timeline li { margin: 4px 0; } .timeline time { color: var(--text-2); font-weight: 600; margin-right: 8px; }
.order:target h3 { background: var(--accent-soft); }
.narrow { max-width: 36rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.tabs { display: flex; flex-wrap: wrap; gap: 4px; margin: 8px 0; border-bottom: 1px solid var(--line); }
.tabs button { border: 0; border-bottom: 2px solid transparent; border-radius: 0; background: none; padding: 8px 12px; font-size: 13px; }
.tabs button[aria-selected=true] { border-bottom-color: var(--accent); color: var(--text); font-weight: 600; }
table.days { width: auto; margin: 8px 0; } table.days td, table.days th { padding: 0; border: 1px solid var(--bg); font-size: 11px; line-height: 16px; position: static; }
table.days td { width: 16px; min-width: 16px; height: 16px; background: var(--sunken); } table.days tbody th, table.days thead th:first-child { padding-right: 8px; text-align: left; }
table.days thead th { max-width: 16px; overflow: visible; text-align: left; } .table.plain { border: 0; }
.months td, .months th { text-align: center !important; padding: 4px; font-size: 12px; }
label { color: var(--text-2); font-size: 12px; min-width: 0; max-width: 100%; }
input, select { font-size: 13px; line-height: 20px; font-family: inherit; color: inherit; background: var(--surface); border: 1px solid var(--line-strong); border-radius: 6px; padding: 2px 8px; min-height: 28px; max-width: 100%; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
pre { background: var(--sunken); border-radius: 6px; padding: 12px; white-space: pre-wrap; margin: 8px 0; }
details > summary { cursor: pointer; color: var(--text-2); }
footer { margin-top: 40px; padding-top: 12px; border-top: 1px solid var(--line); color: var(--text-3); font-size: 12px; }
@media screen and (min-width: 1200px) {
  body:has(.rail) main { display: grid; grid-template-columns: 112px minmax(0, 1fr); gap: 0 24px; }
  .rail { display: block; position: sticky; top: 24px; align-self: start; padding-top: 24px; font-size: 12px; line-height: 24px; }
  .rail a { display: block; }
  .content { min-width: 0; }
}
@media (max-width: 960px) { .split { grid-template-columns: minmax(0, 1fr); } .figures { grid-template-columns: repeat(3, minmax(0, 1fr)); } .figures div:nth-child(3n+1) { padding-left: 0; border-left: 0; } .figures div:nth-child(n+4) { border-top: 1px solid var(--line); } }
@media (max-width: 720px) {
  body { padding: 16px 12px 40px; } header { grid-template-columns: minmax(0, 1fr); } .tools { grid-row: auto; grid-column: 1; }
  .toolbar input { flex: 1 1 100%; }
  .columns.pairs { grid-template-columns: minmax(0, 1fr); } .curves { height: 360px; } .curves.price { height: calc(460px + var(--panes, 0) * 76px); }
  .figures { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .figures div:nth-child(n) { border-left: 0; padding-left: 0; } .figures div:nth-child(n+3) { border-top: 1px solid var(--line); }
  .figures dd { font-size: 18px; } th, td { padding: 6px 8px; } th:first-child, td:first-child { white-space: normal; } td.text:first-child:not(:has(a)) { min-width: 7rem; overflow-wrap: anywhere; } button, .chip, input, select { min-height: 44px; }
  .bars .bar, .bars .total td:last-child { display: none; }
}
/* High contrast replaces colours: these have no meaning without theirs. */
@media (forced-colors: active) {
  .readout i, .bars .bar, .bars .bar i, .months td, .days td { forced-color-adjust: none; }
  .tabs button { border-bottom-color: Canvas; } .tabs button[aria-selected=true] { border-bottom-color: Highlight; }
}
@media print {
  .toolbar, .tools, .rail { display: none !important; } table.cut tbody tr:nth-child(n+13) { display: table-row; }
  .readout i, .bars .bar, .bars .bar i, .months td, .days td { print-color-adjust: exact; }
  .table { overflow: visible; } th:first-child, td:first-child, thead th { position: static; }
  h2, h3, .readout { break-after: avoid; } .curves, .small, .surface { break-inside: avoid; }
  .curves:has(.picture) { height: auto; } .curves:has(.picture) > :not(.picture) { display: none; }
  .picture, .uplot canvas, canvas.surface { display: block; width: 100%; height: auto !important; }
  .uplot, .uplot .u-wrap { width: 100% !important; height: auto !important; } .uplot .u-over, .uplot .u-under { display: none; }
}
`;
