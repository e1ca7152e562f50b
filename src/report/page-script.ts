/**
 * Script of the pages, as text: draws charts from the page's data; sorts, filters, copies and saves
 * tables; switches tabs and the theme. Runs in a browser after the chart libraries.
 */
import { BASE_SCRIPT } from './script/base-script.ts';
import { CURVES_SCRIPT } from './script/curves-script.ts';
import { SEARCH_SCRIPT } from './script/search-script.ts';
import { SMALL_CHARTS_SCRIPT } from './script/small-charts-script.ts';
import { TABLES_SCRIPT } from './script/tables-script.ts';

export const PAGE_SCRIPT = `
(() => {
${BASE_SCRIPT}${CURVES_SCRIPT}${SMALL_CHARTS_SCRIPT}${SEARCH_SCRIPT}${TABLES_SCRIPT}})();
`;
