/**
 * Script of the pages, as text: draws charts from the page's data; sorts, filters, copies and saves
 * tables; switches the theme. Runs in a browser after the chart libraries.
 */
export const PAGE_SCRIPT = `
(() => {
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

  const family = getComputedStyle(document.body).fontFamily;
  const theme = (span) => ({
    layout: { background: { color: 'transparent' }, textColor: colour('--text-3'), fontSize: 11, fontFamily: family, attributionLogo: false,
      panes: { separatorColor: colour('--line'), separatorHoverColor: colour('--line') } },
    grid: { vertLines: { visible: false }, horzLines: { color: colour('--line') } },
    rightPriceScale: { borderVisible: false, minimumWidth: 72, entireTextOnly: true, scaleMargins: { top: 0.12, bottom: 0.08 } },
    leftPriceScale: { borderVisible: false, minimumWidth: 56, entireTextOnly: true },
    timeScale: { borderColor: colour('--line'), timeVisible: true, secondsVisible: span < 86400, fixLeftEdge: true, fixRightEdge: true, minBarSpacing: 0.001,
      tickMarkFormatter: (time) => span > 2 * 86400 ? stamp(time).slice(0, 10) : span < 120 ? stamp(time).slice(11, 21) : stamp(time).slice(11, 19) },
    localization: { timeFormatter: (time) => stamp(time).slice(0, 23) },
    crosshair: { mode: 0 },
  });

  /**
   * Draws the two charts of a strategy over one time axis. Points are placed by their index and
   * labelled with their time, so samples of one second stay apart. The visible range and the
   * pointer of both charts follow each other.
   */
  const drawCurves = (part, curves) => {
    const { time } = curves;
    const span = time[time.length - 1] - time[0];
    const select = part('market');
    const line = (values) => time.map((at, row) => values[row] === null ? { time: at } : { time: at, value: values[row] });
    const make = (root) => library.createChart(root, { autoSize: true, ...theme(span) });
    const custom = (decimals) => ({ type: 'custom', minMove: Number('1e-' + decimals), formatter: (value) => number(value, decimals) });
    const add = (chart, kind, pane, options) => chart.addSeries(kind, { lineWidth: 1, priceLineVisible: false, lastValueVisible: false, ...options }, pane);
    const top = make(part('equity'));
    const equity = add(top, library.LineSeries, 0, { lineWidth: 2, lastValueVisible: true, priceFormat: custom(2) });
    const hold = add(top, library.LineSeries, 0, { lineStyle: 2, priceFormat: custom(2) });
    const fall = add(top, library.AreaSeries, 1, { priceFormat: { ...custom(2), formatter: (value) => number(value, 2) + '\u202f%' }, invertFilledArea: true });
    const low = make(part('price-fills'));
    const price = add(low, library.LineSeries, 0, { lastValueVisible: true });
    const held = add(low, library.HistogramSeries, 1, { base: 0 });
    const leverage = add(low, library.LineSeries, 2, { priceFormat: custom(3) });
    const margin = add(low, library.LineSeries, 2, { lineStyle: 2, priceFormat: { ...custom(2), formatter: (value) => number(value, 2) + '\u202f%' }, priceScaleId: 'left' });
    equity.setData(line(curves.equity));
    hold.setData(line(curves.hold));
    fall.setData(line(curves.underwater));
    leverage.setData(line(curves.leverage));
    margin.setData(line(curves.margin));
    low.applyOptions({ leftPriceScale: { visible: true } });
    const markers = library.createSeriesMarkers(price, []);
    /** Series that the strategy plotted, of the market that is shown. */
    let plots = [];
    const plotColour = (i) => colour(['--s2', '--s3', '--s4', '--s1', '--s5'][i % 5]);
    const drawPlots = () => {
      for (const one of plots) low.removeSeries(one.series);
      const { decimals, plots: all } = market();
      plots = all.map(({ name, pane, values }, i) => {
        const series = add(low, library.LineSeries, pane === 'below' ? 3 : 0,
          { title: name, color: plotColour(i), lineStyle: i > 1 ? 2 : 0, priceFormat: custom(pane === 'below' ? 4 : Math.min(8, decimals + 1)) });
        series.setData(line(values));
        return { series, name, values };
      });
      part('price-fills').dataset.plots = String(plots.length);
    };

    /** Last row at or before a time. */
    const rowOf = (at) => {
      let from = 0, to = time.length;
      while (from < to) { const middle = (from + to) >> 1; if (time[middle] <= at) from = middle + 1; else to = middle; }
      return Math.max(0, from - 1);
    };
    const market = () => curves.markets[Number(select ? select.value : 0)];
    /** Fills by side and row, or by stretch of rows when many are in view. */
    let groups = [];
    const group = () => {
      const { fills } = market();
      const range = low.timeScale().getVisibleLogicalRange();
      const rows = range === null ? time.length : Math.max(1, range.to - range.from);
      const bucket = Math.max(1, Math.round(rows / Math.max(1, low.timeScale().width() / 14)));
      const found = new Map();
      for (const fill of fills) {
        const row = rowOf(fill[0]);
        const key = Math.floor(row / bucket) + ':' + fill[1];
        if (found.has(key)) found.get(key).fills.push(fill);
        else found.set(key, { row, side: fill[1], fills: [fill] });
      }
      groups = [...found.values()];
      markers.setMarkers(groups.map(({ row, side, fills: all }) => ({
        time: time[row], position: side > 0 ? 'belowBar' : 'aboveBar', shape: side > 0 ? 'arrowUp' : 'arrowDown',
        color: colour(side > 0 ? '--gain' : '--loss'), size: 0.7, ...(all.length > 1 ? { text: '×' + all.length } : {}),
      })).sort((a, b) => a.time - b.time));
      part('price-fills').dataset.markers = String(groups.length);
      return bucket;
    };
    let bucket = 1;
    const paint = () => {
      const { decimals, lotDecimals, mid, position } = market();
      top.applyOptions(theme(span));
      low.applyOptions(theme(span));
      price.applyOptions({ color: colour('--text-2'), priceFormat: custom(Math.min(8, decimals + 1)) });
      equity.applyOptions({ color: colour('--s1') });
      hold.applyOptions({ color: colour('--s5') });
      fall.applyOptions({ lineColor: colour('--s3'), topColor: colour('--s3') + '30', bottomColor: colour('--s3') + '30' });
      held.applyOptions({ color: colour('--s2'), priceFormat: custom(lotDecimals) });
      leverage.applyOptions({ color: colour('--s4') });
      margin.applyOptions({ color: colour('--s3') });
      price.setData(line(mid));
      held.setData(line(position));
      drawPlots();
      bucket = group();
      read(time.length - 1);
    };
    const write = (name, text) => { const cell = part.read(name); if (cell) cell.textContent = text; };
    /** Values under the pointer, or the last ones. */
    const read = (row) => {
      const { decimals, lotDecimals, mid, position } = market();
      write('equity', number(curves.equity[row], 2));
      write('hold', number(curves.hold[row], 2));
      write('fall', number(curves.underwater[row], 2) + '\u202f%');
      write('mid', number(mid[row], decimals + 1));
      write('position', number(position[row], lotDecimals));
      write('leverage', number(curves.leverage[row], 3));
      write('margin', number(curves.margin[row], 2) + '\u202f%');
      const here = groups.filter((one) => Math.abs(one.row - row) <= bucket / 2).flatMap(({ fills }) => fills);
      const text = here.slice(0, 3).map(([, side, at, size, role, , tag]) => (side > 0 ? 'buy ' : 'sell ') + size + ' at ' + at + ' as ' + role + (tag ? ' (' + tag + ')' : '')).join(', ');
      write('plots', plots.length === 0 ? '–' : plots.map(({ name, values }) => name + ' ' + number(values[row], 4)).join(', '));
      write('fills', here.length === 0 ? '–' : text + (here.length > 3 ? ' and ' + (here.length - 3) + ' more' : ''));
    };
    paint();
    themed.push(paint);
    if (select) select.addEventListener('change', paint);
    const share = (chart, shares) => shares.forEach((factor, i) => chart.panes()[i] && chart.panes()[i].setStretchFactor(factor));
    share(top, [3, 1]);
    share(low, [5, 2, 2]);
    const follow = (from, to, series) => {
      from.timeScale().subscribeVisibleLogicalRangeChange((range) => {
        const other = to.timeScale().getVisibleLogicalRange();
        if (range && (!other || Math.abs(other.from - range.from) + Math.abs(other.to - range.to) > 1e-6)) to.timeScale().setVisibleLogicalRange(range);
        if (from === low) bucket = group();
      });
      from.subscribeCrosshairMove(({ time: at, logical, sourceEvent }) => {
        if (!sourceEvent) return;
        if (at === undefined) { to.clearCrosshairPosition(); read(time.length - 1); return; }
        const row = Math.min(time.length - 1, Math.max(0, Math.round(logical)));
        to.setCrosshairPosition(NaN, time[row], series);
        read(row);
      });
    };
    fall.priceScale().applyOptions({ scaleMargins: { top: 0.02, bottom: 0.08 } });
    follow(top, low, price);
    follow(low, top, equity);
    // The charts have their width after the next layout.
    const fit = () => { top.timeScale().fitContent(); low.timeScale().fitContent(); };
    fit();
    requestAnimationFrame(() => requestAnimationFrame(fit));
    low.subscribeClick(({ logical }) => {
      if (logical === undefined || logical === null) return;
      const near = groups.filter((one) => Math.abs(one.row - logical) <= Math.max(1, bucket));
      if (near.length > 0) location.hash = 'fill-' + curves.id.replace(/[^A-Za-z0-9_-]/g, '-') + '-' + near[0].fills[0][5];
    });
    part('equity').dataset.ready = 'true';
    part('price-fills').dataset.ready = 'true';
  };

  const axis = (extra) => ({ stroke: colour('--text-3'), font: '11px ' + family, grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line') }, size: 72, values: (_, ticks) => ticks.map((tick) => tick === null ? '' : number(tick, decimalsOf(tick))), ...extra });
  const tidy = (_, ticks) => ticks.map((tick) => tick === null ? '' : number(tick, decimalsOf(Number(tick.toPrecision(3)))));
  const decimalsOf = (tick) => Math.min(8, (String(Number(tick.toPrecision(6))).split('.')[1] || '').length);
  /** Enough decimals to distinguish adjacent ticks, and no −0. */
  const stepwise = (_, ticks, _axis, _space, step) => {
    const decimals = Math.max(0, Math.min(12, -Math.floor(Math.log10(step) + 1e-9)));
    return ticks.map((tick) => tick === null ? '' : number(tick, decimals));
  };
  const small = (root, options, columns) => {
    let plot;
    const draw = () => {
      if (plot) plot.destroy();
      plot = new uPlot({ width: root.clientWidth || 480, height: 230, legend: { show: true }, ...options() }, columns, root);
    };
    draw();
    themed.push(draw);
    addEventListener('resize', draw);
    root.dataset.ready = 'true';
  };

  const drawHistogram = (root, { low, width, counts }) => small(root, () => ({
    scales: { x: { time: false } },
    axes: [axis({ size: 40, values: tidy }), axis()],
    series: [{ label: 'return %', value: (_, value) => value === null ? '–' : value.toFixed(4) },
      { label: 'periods', stroke: colour('--s1'), fill: colour('--s1') + '60', paths: uPlot.paths.bars({ size: [0.95] }), points: { show: false } }],
  }), [counts.map((_, i) => (low + (i + 0.5) * width) * 100), counts]);

  /** UTC labels: time of day for up to two days, dates for longer ranges. */
  const clock = (times) => {
    const isLong = times[times.length - 1] - times[0] > 2 * 86400;
    return times.map((time) => {
      const text = new Date(time * 1e3).toISOString();
      return isLong ? text.slice(0, 10) : text.slice(11, 19);
    });
  };

  const drawRolling = (root, rolling) => small(root, () => ({
    scales: { sharpe: {}, volatility: {} },
    axes: [axis({ size: 40, space: 90, values: (_, times) => times.length === 0 ? [] : clock(times) }), axis({ scale: 'sharpe', values: stepwise }), axis({ scale: 'volatility', side: 1, values: stepwise, grid: { show: false } })],
    series: [{ label: 'time', value: (_, time) => time === null ? '–' : new Date(time * 1e3).toISOString().slice(0, 19) }, { label: 'Sharpe', scale: 'sharpe', stroke: colour('--s1'), width: 1.5 },
      { label: 'volatility %', scale: 'volatility', stroke: colour('--s2'), width: 1 }],
  }), [rolling.map(([time]) => time), rolling.map(([, sharpe]) => sharpe), rolling.map(([, , value]) => value === null ? null : value * 100)]);

  data.strategies.forEach((curves, i) => {
    const part = (name) => document.querySelector('[data-strategy="' + i + '"] [data-draws="' + name + '"]');
    part.read = (name) => document.querySelector('[data-strategy="' + i + '"] [data-reads="' + name + '"]');
    if (part('equity') && curves.time.length > 0 && curves.markets.length > 0) drawCurves(part, curves);
    if (curves.histogram && part('histogram')) drawHistogram(part('histogram'), curves.histogram);
    if (curves.rolling.length > 0 && part('rolling')) drawRolling(part('rolling'), curves.rolling);
  });

  const overlay = document.querySelector('[data-draws="overlay"]');
  if (overlay && data.strategies.some(({ time }) => time.length > 0)) {
    const joined = uPlot.join(data.strategies.map(({ time, equity }) => [time, equity.map((value) => (value / equity[0] - 1) * 100)]));
    small(overlay, () => ({
      height: 300,
      axes: [axis({ size: 40, space: 90, grid: { show: false }, values: (_, times) => times.length === 0 ? [] : clock(times) }), axis({ values: (_, ticks) => ticks.map((tick) => number(tick, decimalsOf(tick)) + '\u202f%') })],
      series: [{ label: 'time', value: (_, time) => time === null ? '–' : stamp(time).slice(0, 19) },
        ...data.strategies.map(({ id }, i) => ({ label: id, stroke: colour('--s' + (i % 5 + 1)), width: 1.5, spanGaps: true, ...(i > 1 ? { dash: [6, 2 + i] } : {}), value: (_, value) => number(value, 2) + '\u202f%' }))],
    }), joined);
  }

  const count = (label) => ({ label, stroke: colour('--s1'), fill: colour('--s1') + '60', paths: uPlot.paths.bars({ size: [0.95] }), points: { show: false } });
  const middles = ({ low, width, counts }) => counts.map((_, i) => low + (i + 0.5) * width);
  const utc = (_, time) => time === null ? '–' : new Date(time * 1e3).toISOString().slice(0, 19);

  const drawPrice = (root, price) => small(root, () => ({
    padding: [null, 40, null, null],
    axes: [axis({ size: 40, space: 90, values: (_, times) => times.length === 0 ? [] : clock(times) }), axis({ size: 84 })],
    series: [{ label: 'time', value: utc }, { label: 'mid', stroke: colour('--s1'), width: 1.25 }, { label: 'index', stroke: colour('--s2'), width: 1, dash: [4, 3] }],
  }), [price.map(({ timeUs }) => timeUs / 1e6), price.map(({ mid }) => mid), price.map(({ index }) => index)]);

  /** Counts of 0 are omitted on the logarithmic scale, as are normal counts below half a sample. */
  const drawReturns = (root, { bins, normal }) => small(root, () => ({
    scales: { x: { time: false }, y: { distr: 3, range: (_, low, high) => [0.5, high * 1.5] } },
    axes: [axis({ size: 40, values: tidy }), axis({ splits: () => [1, 10, 100, 1e3, 1e4, 1e5, 1e6], values: (_, ticks) => ticks.map(String) })],
    series: [{ label: 'standard deviations', value: (_, value) => value === null ? '–' : value.toFixed(2) },
      { label: 'samples', stroke: colour('--s1'), paths: () => null, points: { show: true, size: 6, width: 1, fill: colour('--s1'), stroke: colour('--s1') } },
      { label: 'normal distribution', stroke: colour('--s2'), width: 1.5, value: (_, value) => value === null ? '–' : value.toFixed(1) }],
  }), [middles(bins), bins.counts.map((n) => n === 0 ? null : n), normal.map((n) => n < 0.5 ? null : n)]);

  const drawMemory = (root, { memory, noise }) => small(root, () => ({
    scales: { x: { time: false } },
    axes: [axis({ size: 40 }), axis({ values: tidy })],
    series: [{ label: 'lag' }, { label: 'returns', stroke: colour('--text-3'), width: 1.25, value: (_, value) => value === null ? '–' : value.toFixed(3) },
      { label: 'sizes', stroke: colour('--s1'), width: 2, value: (_, value) => value === null ? '–' : value.toFixed(3) },
      { label: 'noise to', stroke: colour('--s2'), width: 1, dash: [3, 3], value: () => noise.toFixed(3) },
      { label: 'from', stroke: colour('--s2'), width: 1, dash: [3, 3], value: () => (-noise).toFixed(3) }],
  }), [memory.map((_, i) => i + 1), memory.map(({ returns }) => returns), memory.map(({ absolute }) => absolute), memory.map(() => noise), memory.map(() => -noise)]);

  const drawCounts = (root, bins, label) => small(root, () => ({
    scales: { x: { time: false } },
    axes: [axis({ size: 40, values: tidy }), axis()],
    series: [{ label, value: (_, value) => value === null ? '–' : String(Number(value.toPrecision(4))) }, count('samples')],
  }), [middles(bins), bins.counts]);

  data.markets.forEach((shape, i) => {
    if (shape === null) return;
    const part = (name) => document.querySelector('[data-market="' + i + '"] [data-draws="' + name + '"]');
    const draw = (name, isThere, how) => {
      const root = part(name);
      if (isThere) how(root);
      else root.textContent = 'The run is too short to draw it.';
    };
    draw('price', shape.price.length > 1, (root) => drawPrice(root, shape.price));
    draw('returns', shape.returns !== null, (root) => drawReturns(root, shape.returns));
    draw('memory', shape.memory.length > 1, (root) => drawMemory(root, shape));
    draw('spread', shape.spread !== null, (root) => drawCounts(root, shape.spread, 'spread'));
    draw('depth', shape.depth !== null, (root) => drawCounts(root, shape.depth, 'size'));
  });

  const shortly = (digits) => (_, value) => value === null ? '–' : value !== 0 && Math.abs(value) < 10 ** -digits ? String(Number(value.toPrecision(2))) : value.toFixed(digits);
  const drawChain = (root, { time, growth, underwater }) => small(root, () => ({
    height: 340,
    scales: { growth: { range: (_, low, high) => [low - (high - low) * 0.5, high + (high - low) * 0.05] },
      fall: { range: (_, low) => [Math.min(low, -1e-9), -3 * Math.min(low, -1e-9)] } },
    axes: [axis({ size: 40, space: 90, values: (_, times) => times.length === 0 ? [] : clock(times) }), axis({ scale: 'growth', size: 74, values: stepwise }),
      axis({ scale: 'fall', side: 1, size: 74, grid: { show: false }, values: (_, ticks) => ticks.map((tick) => tick > 0 ? '' : number(tick, decimalsOf(tick)) + '\u202f%') })],
    series: [{ label: 'time', value: utc }, { label: 'growth of 1', scale: 'growth', stroke: colour('--s1'), width: 1.75, value: shortly(4) },
      { label: 'drawdown %', scale: 'fall', stroke: colour('--s3'), width: 1, fill: colour('--s3') + '30', fillTo: 0, value: shortly(2) }],
  }), [time, growth, underwater]);
  const dots = (name, size) => ({ paths: () => null, points: { show: true, size, fill: colour(name), stroke: colour(name) }, stroke: colour(name), value: shortly(3) });
  const drawScores = (root, scores) => {
    small(root, () => ({
      scales: { x: { time: false, range: [0.5, scores.length + 0.5] } },
      axes: [axis({ size: 40, splits: () => scores.map((_, i) => i + 1), values: (_, ticks) => ticks.map(String) }), axis({ values: stepwise })],
      series: [{ label: 'window' }, { label: 'in sample', ...dots('--text-3', 7) }, { label: 'out of sample', ...dots('--s1', 9) }],
    }), [scores.map((_, i) => i + 1), scores.map(([inside]) => inside), scores.map(([, outside]) => outside)]);
  };
  if (data.walk) {
    const part = (name) => document.querySelector('[data-draws="' + name + '"]');
    if (part('chain')) drawChain(part('chain'), data.walk.chain);
    drawScores(part('scores'), data.walk.scores);
  }

  const drawTrials = (root, { trials, objective }) => {
    let best = null;
    const highest = trials.map(([, score]) => best = score === null ? best : best === null ? score : Math.max(best, score));
    small(root, () => ({
      scales: { x: { time: false } },
      axes: [axis({ size: 40 }), axis({ values: stepwise })],
      series: [{ label: 'trial' }, { label: objective, ...dots('--s1', 5) },
        { label: 'best so far', stroke: colour('--s1'), width: 1.5, points: { show: false }, value: shortly(3) }],
    }), [trials.map(([number]) => number), trials.map(([, score]) => score), highest]);
  };
  /** Padding on both sides, so that trials at the min or max value are visible. */
  const drawParameter = (root, { name, labels, points }, objective) => small(root, () => ({
    scales: { x: { time: false, range: (_, low, high) => labels ? [-0.5, labels.length - 0.5] : [low - ((high - low) * 0.04 || 1), high + ((high - low) * 0.04 || 1)] } },
    axes: [axis({ size: 40, ...(labels ? { splits: () => labels.map((_, i) => i), values: (_, ticks) => ticks.map((tick) => labels[tick]) } : {}) }), axis({ values: stepwise })],
    series: [{ label: name, value: (_, value) => value === null ? '–' : labels ? labels[value] : String(value) }, { label: objective, ...dots('--s1', 5) }],
  }), [points.map(([value]) => value), points.map(([, score]) => score)]);
  if (data.sweep) {
    const part = (name) => document.querySelector('[data-draws="' + name + '"]');
    drawTrials(part('trials'), data.sweep);
    data.sweep.parameters.forEach((parameter, i) => drawParameter(part('parameter-' + i), parameter, data.sweep.objective));
  }

  const text = (cell) => cell.textContent.replaceAll('−', '-');
  /** Numbers lose thousands separators, plus and unit; text stays. */
  const plain = (cell) => {
    const value = text(cell).trim().replace(/^\\+/, '');
    return /^-?[\\d,]*\\.?\\d+(?:\\s%)?$/.test(value) ? value.replaceAll(',', '').replace(/\\s%/, '') : value;
  };
  const key = (cell) => {
    const value = plain(cell);
    return value !== '' && !Number.isNaN(Number(value)) ? Number(value) : value;
  };
  const rowsOf = (table) => [...table.tBodies[0].rows];
  const grid = (table) => [[...table.tHead.rows[0].cells], ...rowsOf(table).filter((row) => !row.hidden).map((row) => [...row.cells])];
  const quoted = (value) => /[",\\n]/.test(value) ? '"' + value.replaceAll('"', '""') + '"' : value;
  for (const bar of document.querySelectorAll('.toolbar')) {
    const find = (name) => bar.querySelector('[data-' + name + ']');
    const search = find('filters');
    const table = document.getElementById(search.dataset.filters);
    const count = find('counts');
    const all = find('shows');
    const showAll = () => { table.classList.remove('cut'); if (all) all.hidden = true; };
    search.addEventListener('input', () => {
      const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
      if (words.length > 0) showAll();
      const rows = rowsOf(table);
      for (const row of rows) {
        const content = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => content.includes(word));
      }
      count.textContent = rows.filter((row) => !row.hidden).length + ' of ' + rows.length;
    });
    if (all) all.addEventListener('click', showAll);
    // A link to a row that is not shown shows all.
    const reveal = () => {
      const row = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
      if (row && table.contains(row)) { showAll(); row.scrollIntoView({ block: 'center' }); }
    };
    addEventListener('hashchange', reveal);
    reveal();
    find('copies').addEventListener('click', async (event) => {
      const lines = grid(table).map((cells) => cells.map((cell) => plain(cell)).join('\\t')).join('\\n');
      try { await navigator.clipboard.writeText(lines); event.target.textContent = 'Copied'; } catch { event.target.textContent = 'The browser refuses to copy'; }
    });
    find('saves').addEventListener('click', () => {
      const lines = grid(table).map((cells) => cells.map((cell) => quoted(plain(cell))).join(',')).join('\\n') + '\\n';
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([lines], { type: 'text/csv' }));
      link.download = table.id + '.csv';
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      head.querySelector('button').addEventListener('click', () => {
        const down = head.getAttribute('aria-sort') === 'ascending';
        for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
        head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        const compare = (a, b) => {
          const [left, right] = [key(a.cells[column]), key(b.cells[column])];
          if (typeof left !== typeof right) return typeof left === 'number' ? -1 : 1;
          const order = left < right ? -1 : left > right ? 1 : 0;
          return down ? -order : order;
        };
        table.tBodies[0].append(...rowsOf(table).sort(compare));
      });
    });
  }
})();
`;
