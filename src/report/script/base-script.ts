/** Script of the pages: number formats, theme, paper. */
export const BASE_SCRIPT = `
  const data = JSON.parse(document.getElementById('data').textContent);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const library = window.LightweightCharts;
  const dark = matchMedia('(prefers-color-scheme: dark)');

  /** Formats numbers of charts: a minus sign, thousands, fixed decimals; – if unknown. */
  const number = (value, decimals) => {
    if (value === null || value === undefined || Number.isNaN(value)) return '–';
    const [whole, fraction] = Math.abs(value).toFixed(decimals).split('.');
    const digits = whole.replace(/\\B(?=(?:\\d{3})+$)/g, ',') + (fraction === undefined ? '' : '.' + fraction);
    return value < 0 && Number(value.toFixed(decimals)) !== 0 ? '−' + digits : digits;
  };
  const stamp = (seconds) => new Date(Math.round(seconds * 1e3)).toISOString().replace('T', ' ');

  /** UTC label of a tick: time of day within two days, day within a year, else the month. */
  const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  const day = (text) => MONTHS[Number(text.slice(5, 7)) - 1] + ' ' + Number(text.slice(8, 10));
  const tickText = (seconds, span) => {
    const text = stamp(seconds);
    return span <= 2 * 86400 ? text.slice(11, 19) : span <= 366 * 86400 ? day(text) : text.slice(0, 7);
  };
  /** The same for kinds of ticks of the charts that zoom: year, month, day, time. */
  const markText = (seconds, kind, span) => {
    const text = stamp(seconds);
    if (span <= 2 * 86400) return span < 120 ? text.slice(11, 21) : text.slice(11, 19);
    return kind === 0 ? text.slice(0, 4) : kind === 1 ? MONTHS[Number(text.slice(5, 7)) - 1] : kind === 2 ? day(text) : day(text) + ' ' + text.slice(11, 16);
  };

  /** Keys with these are those of the browser: its history and its zoom. */
  const isOfBrowser = (event) => event.ctrlKey || event.metaKey || event.altKey;

  /** Goes to an element of the page, also if the address names it already. */
  const goTo = (id) => {
    if (location.hash === '#' + id) dispatchEvent(new Event('hashchange'));
    else location.hash = id;
  };

  const themed = [];
  const repaint = () => { for (const paint of themed) paint(); };
  dark.addEventListener('change', repaint);
  const stored = () => { try { return localStorage.getItem('orrery-theme'); } catch { return null; } };
  const setTheme = (name) => { document.documentElement.dataset.theme = name; };
  if (stored()) setTheme(stored());
  for (const button of document.querySelectorAll('[data-themes]')) {
    button.addEventListener('click', () => {
      const isDark = (document.documentElement.dataset.theme || (dark.matches ? 'dark' : 'light')) === 'dark';
      setTheme(isDark ? 'light' : 'dark');
      try { localStorage.setItem('orrery-theme', isDark ? 'light' : 'dark'); } catch { /* the file has no storage */ }
      repaint();
    });
  }

  /** Most of the width of a chart on paper, px: a sheet is about as wide. */
  const SHEET = 720;
  let isPrinting = false;
  const widthOf = (root) => isPrinting ? Math.min(root.clientWidth, SHEET) : root.clientWidth;
  /** Each replaces a chart by a picture of it, and returns what undoes that. */
  const pictured = [];
  let undo = [];
  addEventListener('beforeprint', () => {
    if (isPrinting) return;
    const { theme: chosen } = document.documentElement.dataset;
    isPrinting = true;
    // The media query of paper does not hold yet.
    setTheme('light');
    repaint();
    undo = [() => { if (chosen) setTheme(chosen); else delete document.documentElement.dataset.theme; }, ...pictured.map((picture) => picture())];
  });
  addEventListener('afterprint', () => {
    isPrinting = false;
    for (const back of undo) back();
    undo = [];
    repaint();
  });

  const family = getComputedStyle(document.body).fontFamily;
  const theme = (span) => ({
    layout: { background: { color: 'transparent' }, textColor: colour('--text-3'), fontSize: 11, fontFamily: family, attributionLogo: false,
      panes: { separatorColor: colour('--line'), separatorHoverColor: colour('--line') } },
    grid: { vertLines: { visible: false }, horzLines: { color: colour('--line') } },
    rightPriceScale: { borderVisible: false, minimumWidth: 72, entireTextOnly: true, scaleMargins: { top: 0.12, bottom: 0.08 } },
    leftPriceScale: { borderVisible: false, minimumWidth: 56, entireTextOnly: true },
    timeScale: { borderColor: colour('--line'), allowBoldLabels: false, timeVisible: true, secondsVisible: span < 86400, fixLeftEdge: true, fixRightEdge: true, minBarSpacing: 0.001, tickMarkMaxCharacterLength: span > 2 * 86400 ? 11 : 8,
      tickMarkFormatter: (time, kind) => markText(time, kind, span) },
    localization: { timeFormatter: (time) => stamp(time).slice(0, 23) },
    crosshair: { mode: 0 },
  });

`;
