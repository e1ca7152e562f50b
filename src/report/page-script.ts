/**
 * Script of the report page, as text: draws each strategy's curves from the page's data and filters
 * the tables of fills. Runs in a browser after the chart libraries.
 */
export const PAGE_SCRIPT = `
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const library = window.LightweightCharts;
  const dark = matchMedia('(prefers-color-scheme: dark)');

  const theme = () => ({
    layout: { background: { color: 'transparent' }, textColor: colour('--soft'), fontSize: 12,
      panes: { separatorColor: colour('--rule'), separatorHoverColor: colour('--rule') } },
    grid: { vertLines: { color: colour('--rule') }, horzLines: { color: colour('--rule') } },
    rightPriceScale: { borderColor: colour('--rule'), minimumWidth: 86 },
    timeScale: { borderColor: colour('--rule'), timeVisible: true, secondsVisible: true },
    crosshair: { mode: 0 },
  });

  /** Chart times are ascending whole seconds; the last of several samples in one second is kept. */
  const timeline = (times) => {
    const rows = [];
    times.forEach((time, row) => {
      const second = Math.floor(time);
      if (rows.length > 0 && rows[rows.length - 1].time === second) rows.pop();
      rows.push({ time: second, row });
    });
    return rows;
  };

  const drawCurves = (root, curves, select) => {
    const rows = timeline(curves.time);
    const line = (values) => rows.map(({ time, row }) =>
      values[row] === null ? { time } : { time, value: values[row] });
    const chart = library.createChart(root, { autoSize: true, ...theme() });
    const fixed = (precision) => ({ type: 'price', precision, minMove: Number('1e-' + precision) });
    const add = (kind, pane, title, options) => chart.addSeries(kind, { title, lineWidth: 1, ...options }, pane);
    const price = add(library.LineSeries, 0, 'mid');
    const equity = add(library.LineSeries, 1, 'equity', { lineWidth: 2, priceFormat: fixed(2) });
    const hold = add(library.LineSeries, 1, 'hold', { lineStyle: 2, priceFormat: fixed(2) });
    const fall = add(library.AreaSeries, 2, 'drawdown %', { priceFormat: fixed(3), invertFilledArea: true });
    const held = add(library.HistogramSeries, 3, 'position', { base: 0, priceFormat: fixed(4) });
    const leverage = add(library.LineSeries, 4, 'leverage', { priceFormat: fixed(3) });
    const margin = add(library.LineSeries, 4, '', { priceFormat: fixed(2), priceScaleId: 'left', lastValueVisible: false, priceLineVisible: false });
    equity.setData(line(curves.equity));
    hold.setData(line(curves.hold));
    fall.setData(line(curves.underwater));
    leverage.setData(line(curves.leverage));
    margin.setData(line(curves.margin));
    const markers = library.createSeriesMarkers(price, []);

    const before = (time) => {
      let low = 0, high = rows.length;
      while (low < high) { const middle = (low + high) >> 1; if (rows[middle].time <= time) low = middle + 1; else high = middle; }
      return rows[Math.max(0, low - 1)].time;
    };
    const paint = () => {
      const market = curves.markets[Number(select ? select.value : 0)];
      chart.applyOptions(theme());
      price.applyOptions({ color: colour('--line'), priceFormat: fixed(Math.min(8, market.decimals + 1)) });
      equity.applyOptions({ color: colour('--equity') });
      hold.applyOptions({ color: colour('--soft') });
      fall.applyOptions({ lineColor: colour('--fall'), topColor: colour('--fall') + '30', bottomColor: colour('--fall') + '30' });
      held.applyOptions({ color: colour('--hold') });
      leverage.applyOptions({ color: colour('--line') });
      margin.applyOptions({ color: colour('--hold') });
      price.setData(line(market.mid));
      held.setData(line(market.position));
      // One mark for all fills of a side within one sample: marks of partial fills would overlap.
      const marks = new Map();
      for (const [second, side] of market.fills) {
        const time = before(second);
        marks.set(time + ':' + side, { time, side });
      }
      markers.setMarkers([...marks.values()].map(({ time, side }) => ({
        time,
        position: side > 0 ? 'belowBar' : 'aboveBar',
        shape: side > 0 ? 'arrowUp' : 'arrowDown',
        color: colour(side > 0 ? '--buy' : '--sell'),
        size: 0.7,
      })));
      root.dataset.markers = String(marks.size);
    };
    paint();
    dark.addEventListener('change', paint);
    if (select) select.addEventListener('change', paint);
    const panes = chart.panes();
    [5, 4, 2, 2, 2].forEach((share, i) => panes[i] && panes[i].setStretchFactor(share));
    chart.timeScale().fitContent();
    root.dataset.ready = 'true';
  };

  const axis = (extra) => ({ stroke: colour('--soft'), grid: { stroke: colour('--rule'), width: 1 },
    ticks: { stroke: colour('--rule') }, size: 64, ...extra });
  /** Enough decimals to distinguish adjacent ticks, and no −0. */
  const stepwise = (_, ticks, _axis, _space, step) => {
    const decimals = Math.max(0, Math.min(12, -Math.floor(Math.log10(step) + 1e-9)));
    return ticks.map((tick) => tick === null ? '' : (Number(tick.toFixed(decimals)) + 0).toFixed(decimals));
  };
  const small = (root, options, columns) => {
    let plot;
    const draw = () => {
      if (plot) plot.destroy();
      plot = new uPlot({ width: root.clientWidth || 480, height: 230, legend: { show: true }, ...options() }, columns, root);
    };
    draw();
    dark.addEventListener('change', draw);
    addEventListener('resize', draw);
    root.dataset.ready = 'true';
  };

  const drawHistogram = (root, { low, width, counts }) => small(root, () => ({
    scales: { x: { time: false } },
    axes: [axis({ size: 40, values: (_, ticks) => ticks.map((tick) => String(Number(tick.toPrecision(3)))) }), axis()],
    series: [{ label: 'return %', value: (_, value) => value === null ? '–' : value.toFixed(4) },
      { label: 'periods', stroke: colour('--line'), fill: colour('--line') + '60', paths: uPlot.paths.bars({ size: [0.95] }), points: { show: false } }],
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
    series: [{ label: 'time', value: (_, time) => time === null ? '–' : new Date(time * 1e3).toISOString().slice(0, 19) }, { label: 'Sharpe', scale: 'sharpe', stroke: colour('--equity'), width: 1.5 },
      { label: 'volatility %', scale: 'volatility', stroke: colour('--hold'), width: 1 }],
  }), [rolling.map(([time]) => time), rolling.map(([, sharpe]) => sharpe), rolling.map(([, , value]) => value === null ? null : value * 100)]);

  data.strategies.forEach((curves, i) => {
    const part = (name) => document.querySelector('[data-strategy="' + i + '"] [data-draws="' + name + '"]');
    const root = part('curves');
    if (root && curves.time.length > 0 && curves.markets.length > 0) drawCurves(root, curves, part('market'));
    if (curves.histogram && part('histogram')) drawHistogram(part('histogram'), curves.histogram);
    if (curves.rolling.length > 0 && part('rolling')) drawRolling(part('rolling'), curves.rolling);
  });

  const count = (label) => ({ label, stroke: colour('--line'), fill: colour('--line') + '60', paths: uPlot.paths.bars({ size: [0.95] }), points: { show: false } });
  const tidy = (_, ticks) => ticks.map((tick) => tick === null ? '' : String(Number(tick.toPrecision(3))));
  const middles = ({ low, width, counts }) => counts.map((_, i) => low + (i + 0.5) * width);
  const utc = (_, time) => time === null ? '–' : new Date(time * 1e3).toISOString().slice(0, 19);

  const drawPrice = (root, price) => small(root, () => ({
    padding: [null, 40, null, null],
    axes: [axis({ size: 40, space: 90, values: (_, times) => times.length === 0 ? [] : clock(times) }), axis({ size: 84 })],
    series: [{ label: 'time', value: utc }, { label: 'mid', stroke: colour('--line'), width: 1.25 }, { label: 'index', stroke: colour('--hold'), width: 1, dash: [4, 3] }],
  }), [price.map(({ timeUs }) => timeUs / 1e6), price.map(({ mid }) => mid), price.map(({ index }) => index)]);

  /** Counts of 0 are omitted on the logarithmic scale, as are normal counts below half a sample. */
  const drawReturns = (root, { bins, normal }) => small(root, () => ({
    scales: { x: { time: false }, y: { distr: 3, range: (_, low, high) => [0.5, high * 1.5] } },
    axes: [axis({ size: 40, values: tidy }), axis({ splits: () => [1, 10, 100, 1e3, 1e4, 1e5, 1e6], values: (_, ticks) => ticks.map(String) })],
    series: [{ label: 'standard deviations', value: (_, value) => value === null ? '–' : value.toFixed(2) },
      { label: 'samples', stroke: colour('--line'), paths: () => null, points: { show: true, size: 6, width: 1, fill: colour('--line'), stroke: colour('--line') } },
      { label: 'normal distribution', stroke: colour('--hold'), width: 1.5, value: (_, value) => value === null ? '–' : value.toFixed(1) }],
  }), [middles(bins), bins.counts.map((n) => n === 0 ? null : n), normal.map((n) => n < 0.5 ? null : n)]);

  const drawMemory = (root, { memory, noise }) => small(root, () => ({
    scales: { x: { time: false } },
    axes: [axis({ size: 40 }), axis({ values: tidy })],
    series: [{ label: 'lag' }, { label: 'returns', stroke: colour('--soft'), width: 1.25, value: (_, value) => value === null ? '–' : value.toFixed(3) },
      { label: 'sizes', stroke: colour('--line'), width: 2, value: (_, value) => value === null ? '–' : value.toFixed(3) },
      { label: 'noise to', stroke: colour('--hold'), width: 1, dash: [3, 3], value: () => noise.toFixed(3) },
      { label: 'from', stroke: colour('--hold'), width: 1, dash: [3, 3], value: () => (-noise).toFixed(3) }],
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
      axis({ scale: 'fall', side: 1, size: 74, grid: { show: false }, values: (_, ticks) => ticks.map((tick) => tick > 0 ? '' : tick + ' %') })],
    series: [{ label: 'time', value: utc }, { label: 'growth of 1', scale: 'growth', stroke: colour('--equity'), width: 1.75, value: shortly(4) },
      { label: 'drawdown %', scale: 'fall', stroke: colour('--fall'), width: 1, fill: colour('--fall') + '30', fillTo: 0, value: shortly(2) }],
  }), [time, growth, underwater]);
  const dots = (name, size) => ({ paths: () => null, points: { show: true, size, fill: colour(name), stroke: colour(name) }, stroke: colour(name), value: shortly(3) });
  const drawScores = (root, scores) => {
    small(root, () => ({
      scales: { x: { time: false, range: [0.5, scores.length + 0.5] } },
      axes: [axis({ size: 40, splits: () => scores.map((_, i) => i + 1), values: (_, ticks) => ticks.map(String) }), axis({ values: stepwise })],
      series: [{ label: 'window' }, { label: 'in sample', ...dots('--soft', 7) }, { label: 'out of sample', ...dots('--equity', 9) }],
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
      series: [{ label: 'trial' }, { label: objective, ...dots('--line', 5) },
        { label: 'best so far', stroke: colour('--equity'), width: 1.5, points: { show: false }, value: shortly(3) }],
    }), [trials.map(([number]) => number), trials.map(([, score]) => score), highest]);
  };
  /** Padding on both sides, so that trials at the min or max value are visible. */
  const drawParameter = (root, { name, labels, points }, objective) => small(root, () => ({
    scales: { x: { time: false, range: (_, low, high) => labels ? [-0.5, labels.length - 0.5] : [low - ((high - low) * 0.04 || 1), high + ((high - low) * 0.04 || 1)] } },
    axes: [axis({ size: 40, ...(labels ? { splits: () => labels.map((_, i) => i), values: (_, ticks) => ticks.map((tick) => labels[tick]) } : {}) }), axis({ values: stepwise })],
    series: [{ label: name, value: (_, value) => value === null ? '–' : labels ? labels[value] : String(value) }, { label: objective, ...dots('--line', 5) }],
  }), [points.map(([value]) => value), points.map(([, score]) => score)]);
  if (data.sweep) {
    const part = (name) => document.querySelector('[data-draws="' + name + '"]');
    drawTrials(part('trials'), data.sweep);
    data.sweep.parameters.forEach((parameter, i) => drawParameter(part('parameter-' + i), parameter, data.sweep.objective));
  }

  for (const search of document.querySelectorAll('[data-filters]')) {
    const rows = [...document.querySelectorAll('#' + search.dataset.filters + ' tbody tr')];
    search.addEventListener('input', () => {
      const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
    });
  }
})();
`;
