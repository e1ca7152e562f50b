/** Script of the pages: small charts of a run. */
export const SMALL_CHARTS_SCRIPT = `
  const axis = (extra) => ({ stroke: colour('--text-3'), font: '11px ' + family, grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line') }, size: 72, values: (_, ticks) => ticks.map((tick) => tick === null ? '' : number(tick, decimalsOf(tick))), ...extra });
  const tidy = (_, ticks) => ticks.map((tick) => tick === null ? '' : number(tick, decimalsOf(Number(tick.toPrecision(3)))));
  const decimalsOf = (tick) => Math.min(8, (String(Number(tick.toPrecision(6))).split('.')[1] || '').length);
  /** Enough decimals to distinguish adjacent ticks, and no −0. */
  const stepwise = (_, ticks, _axis, _space, step) => {
    const decimals = Math.max(decimalsOf(step), Math.min(12, -Math.floor(Math.log10(step) + 1e-9)));
    return ticks.map((tick) => tick === null ? '' : number(tick, decimals));
  };
  /** A chart whose titles show the values under the pointer; it is redrawn for theme and width. */
  const small = (root, options, columns) => {
    let plot;
    const list = document.createElement('ul');
    list.className = 'readout';
    list.setAttribute('aria-hidden', 'true');
    root.before(list);
    const write = (chart) => {
      const { idx } = chart.cursor;
      list.replaceChildren(...chart.series.map((series, i) => {
        const value = idx === null || idx === undefined ? null : chart.data[i][idx];
        const item = document.createElement('li');
        if (i > 0 && typeof series.stroke === 'function') {
          const mark = document.createElement('i');
          mark.style.color = series.stroke(chart, i);
          if (series.dash) mark.className = 'dashed';
          item.append(mark);
        }
        const text = value === null || value === undefined ? '' : series.value ? series.value(chart, value) : number(value, decimalsOf(value));
        const bold = document.createElement('b');
        bold.textContent = text;
        item.append(series.label + ' ', bold);
        return item;
      }));
    };
    const draw = () => {
      if (plot) plot.destroy();
      const given = options();
      plot = new uPlot({ width: widthOf(root) || 480, height: 230, ...given, legend: { show: false }, hooks: { ...given.hooks, setCursor: [write], ready: [write] } }, columns, root);
    };
    draw();
    themed.push(draw);
    addEventListener('resize', draw);
    root.dataset.ready = 'true';
  };

  /** The value below which a share of the counts is; a bin is evenly filled. */
  const quantile = ({ low, width, counts }, share) => {
    let left = share * counts.reduce((sum, n) => sum + n, 0);
    const i = counts.findIndex((n) => (left -= n) <= 0);
    return low + (i + 1 + (counts[i] ? left / counts[i] : 0)) * width;
  };

  /** Vertical lines with their names: zero, and where 5, 50 and 95 % of the returns are below. */
  const quantileLines = (bins) => ({ ctx, bbox, scales: { x }, valToPos }) => {
    ctx.save();
    ctx.lineWidth = devicePixelRatio;
    ctx.font = 11 * devicePixelRatio + 'px ' + family;
    ctx.textAlign = 'center';
    const draw = (value, name, dash, row) => {
      if (value < x.min || value > x.max) return;
      const at = Math.round(valToPos(value, 'x', true));
      ctx.strokeStyle = ctx.fillStyle = colour('--text-3');
      ctx.setLineDash(dash);
      ctx.beginPath(); ctx.moveTo(at, bbox.top); ctx.lineTo(at, bbox.top + bbox.height); ctx.stroke();
      ctx.fillText(name, at, bbox.top - (4 + row * 12) * devicePixelRatio);
    };
    draw(0, '', [], 0);
    const apart = valToPos(quantile(bins, 0.95) * 100, 'x', true) - valToPos(quantile(bins, 0.05) * 100, 'x', true) >= 36 * devicePixelRatio;
    // Names of lines that are close together have a row each, else they cover each other.
    for (const [share, row] of [[0.05, 0], [0.5, apart ? 1 : 2], [0.95, apart ? 0 : 1]]) draw(quantile(bins, share) * 100, share * 100 + '\u202f%', [3, 3], row);
    ctx.restore();
  };

  const drawHistogram = (root, { low, width, counts }) => small(root, () => ({
    padding: [44, null, null, null],
    scales: { x: { time: false, range: () => [(low - width / 2) * 100, (low + (counts.length + 0.5) * width) * 100] } },
    hooks: { draw: [quantileLines({ low, width, counts })] },
    axes: [axis({ size: 40, values: tidy }), axis()],
    series: [{ label: 'return %', value: (_, value) => number(value, 4) },
      { label: 'periods', stroke: colour('--s1'), fill: colour('--s1') + '60', paths: uPlot.paths.bars({ size: [0.95] }), points: { show: false } }],
  }), [counts.map((_, i) => (low + (i + 0.5) * width) * 100), counts]);

  /** Least width of a label of time, px: a narrow chart of three months has more than one. */
  const closeness = () => innerWidth <= 720 ? 56 : 72;
  /** Labels of a time axis, by the range that it shows. */
  const clock = (chart, times) => times.map((time) => tickText(time, chart.scales.x.max - chart.scales.x.min));

  const drawExcursions = (root, trades) => {
    const sorted = [...trades].sort(([a], [b]) => a - b);
    const pick = (holds) => sorted.map(([, , result]) => holds(result) ? result : null);
    const dot = (name, label) => ({ label, stroke: colour(name), paths: () => null, value: (_, value) => value === null ? '' : number(value, 3) + '\\u202f%',
      points: { show: true, size: 6, width: 1, stroke: colour(name), fill: name === '--gain' ? colour('--bg') : colour(name) } });
    small(root, () => ({
      height: 300,
      scales: { x: { time: false, range: (_, low, high) => [0, Math.max(high * 1.05, 1e-9)] } },
      axes: [axis({ size: 40, grid: { show: false }, values: (_, ticks) => ticks.map((tick) => number(tick, decimalsOf(tick)) + '\\u202f%') }), axis({ values: (_, ticks) => ticks.map((tick) => number(tick, decimalsOf(tick)) + '\\u202f%') })],
      series: [{ label: 'largest move against (MAE)', value: (_, value) => value === null ? '' : number(value, 3) + '\\u202f%' }, dot('--gain', 'won (hollow)'), dot('--loss', 'lost (filled)')],
    }), [sorted.map(([mae]) => mae), pick((result) => result > 0), pick((result) => result <= 0)]);
  };

  const atTime = { label: 'time', value: (_, time) => time === null ? '–' : stamp(time).slice(0, 19) };
  const shortNumber = (_, value) => value === null ? '' : number(value, 2);
  /** Values that are all 0 have a range around it; by default it would end at 100. */
  const scaleOf = (room) => ({ range: (_, low, high) => {
    if (low === null) return [null, null];
    return low === 0 && high === 0 ? [-room, room] : uPlot.rangeNum(low, high, 0.1, true);
  } });
  const drawRolling = (root, rolling) => small(root, () => ({
    scales: { sharpe: {}, volatility: scaleOf(1) },
    axes: [axis({ size: 40, space: closeness, values: clock }), axis({ scale: 'sharpe', values: stepwise }), axis({ scale: 'volatility', side: 1, values: stepwise, grid: { show: false } })],
    series: [atTime, { label: 'Sharpe', scale: 'sharpe', stroke: colour('--s1'), width: 1.5, value: shortNumber },
      { label: 'volatility %', scale: 'volatility', stroke: colour('--s2'), width: 1, value: shortNumber }],
  }), [rolling.map(([time]) => time), rolling.map(([, sharpe]) => sharpe), rolling.map(([, , value]) => value === null ? null : value * 100)]);

  /** One figure of the rolling ones, on the time axis of all of them. */
  const drawRollingOne = (root, rolling, column, label, token) => small(root, () => ({
    scales: { y: scaleOf(1) },
    axes: [axis({ size: 40, space: closeness, values: clock }), axis({ values: stepwise })],
    series: [atTime, { label, stroke: colour(token), width: 1.5, value: shortNumber }],
  }), [rolling.map(([time]) => time), rolling.map((point) => point[column])]);

  data.strategies.forEach((curves, i) => {
    const part = (name) => document.querySelector('[data-strategy="' + i + '"] [data-draws="' + name + '"]');
    part.read = (name) => document.querySelector('[data-strategy="' + i + '"] [data-reads="' + name + '"]');
    if (part('equity') && curves.time.length > 0 && curves.markets.length > 0) drawCurves(part, curves, i);
    if (curves.histogram && part('histogram')) drawHistogram(part('histogram'), curves.histogram);
    if (curves.trades.length > 0 && part('excursions')) drawExcursions(part('excursions'), curves.trades);
    if (part('rolling')) drawRolling(part('rolling'), curves.rolling);
    if (part('rolling-sortino')) drawRollingOne(part('rolling-sortino'), curves.rolling, 3, 'Sortino', '--s1');
    if (part('rolling-beta')) drawRollingOne(part('rolling-beta'), curves.rolling, 4, 'beta', '--s3');
  });

  const overlay = document.querySelector('[data-draws="overlay"]');
  if (overlay && data.strategies.some(({ time }) => time.length > 0)) {
    const joined = uPlot.join(data.strategies.map(({ time, equity }) => [time, equity.map((value) => (value / equity[0] - 1) * 100)]));
    small(overlay, () => ({
      height: 300,
      axes: [axis({ size: 40, space: closeness, grid: { show: false }, values: clock }), axis({ values: (_, ticks) => ticks.map((tick) => number(tick, decimalsOf(tick)) + '\u202f%') })],
      series: [{ label: 'time', value: (_, time) => time === null ? '–' : stamp(time).slice(0, 19) },
        ...data.strategies.map(({ id }, i) => ({ label: id, stroke: colour('--s' + (i % 5 + 1)), width: 1.5, spanGaps: true, ...(i > 1 ? { dash: [6, 2 + i] } : {}), value: (_, value) => number(value, 2) + '\u202f%' }))],
    }), joined);
  }

  const count = (label) => ({ label, stroke: colour('--s1'), fill: colour('--s1') + '60', paths: uPlot.paths.bars({ size: [0.95] }), points: { show: false } });
  const middles = ({ low, width, counts }) => counts.map((_, i) => low + (i + 0.5) * width);
  const utc = (_, time) => time === null ? '–' : new Date(time * 1e3).toISOString().slice(0, 19);

  const drawPrice = (root, price) => small(root, () => ({
    padding: [null, 40, null, null],
    axes: [axis({ size: 40, space: closeness, values: clock }), axis({ size: 84 })],
    series: [{ label: 'time', value: utc }, { label: 'mid', stroke: colour('--s1'), width: 1.25 }, { label: 'index', stroke: colour('--s2'), width: 1, dash: [4, 3] }],
  }), [price.map(({ timeUs }) => timeUs / 1e6), price.map(({ mid }) => mid), price.map(({ index }) => index)]);

  /** Counts of 0 are omitted on the logarithmic scale, as are normal counts below half a sample. */
  const drawReturns = (root, { bins, normal }) => small(root, () => ({
    scales: { x: { time: false }, y: { distr: 3, range: (_, low, high) => [0.5, high * 1.5] } },
    axes: [axis({ size: 40, values: tidy }), axis({ splits: () => [1, 10, 100, 1e3, 1e4, 1e5, 1e6], values: (_, ticks) => ticks.map(String) })],
    series: [{ label: 'standard deviations', value: (_, value) => number(value, 2) },
      { label: 'samples', stroke: colour('--s1'), paths: () => null, points: { show: true, size: 6, width: 1, fill: colour('--s1'), stroke: colour('--s1') } },
      { label: 'normal distribution', stroke: colour('--s2'), width: 1.5, value: (_, value) => number(value, 1) }],
  }), [middles(bins), bins.counts.map((n) => n === 0 ? null : n), normal.map((n) => n < 0.5 ? null : n)]);

  const drawMemory = (root, { memory, noise }) => small(root, () => ({
    scales: { x: { time: false } },
    axes: [axis({ size: 40 }), axis({ values: tidy })],
    series: [{ label: 'lag' }, { label: 'returns', stroke: colour('--text-3'), width: 1.25, value: (_, value) => number(value, 3) },
      { label: 'sizes', stroke: colour('--s1'), width: 2, value: (_, value) => number(value, 3) },
      { label: 'noise to', stroke: colour('--s2'), width: 1, dash: [3, 3], value: () => number(noise, 3) },
      { label: 'from', stroke: colour('--s2'), width: 1, dash: [3, 3], value: () => number(-noise, 3) }],
  }), [memory.map((_, i) => i + 1), memory.map(({ returns }) => returns), memory.map(({ absolute }) => absolute), memory.map(() => noise), memory.map(() => -noise)]);

  const drawCounts = (root, bins, label) => small(root, () => ({
    scales: { x: { time: false } },
    axes: [axis({ size: 40, values: tidy }), axis()],
    series: [{ label, value: (_, value) => value === null ? '–' : number(value, decimalsOf(Number(value.toPrecision(4)))) }, count('samples')],
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


  const queue = document.querySelector('[data-draws="queue"]');
  if (queue && data.queue && data.queue.length > 1) {
    small(queue, () => ({
      scales: { y: { range: (_, low, high) => [0, high > 0 ? high * 1.05 : 1] } },
      axes: [axis({ size: 40, space: 84, grid: { show: false }, values: (_, times, _axis, _space, step) => times.map((time) => stamp(time).slice(11, step >= 1 ? 19 : 20 + Math.min(3, Math.ceil(-Math.log10(step) - 1e-9)))) }), axis()],
      series: [{ label: 'time', value: (_, time) => time === null ? '–' : stamp(time).slice(11, 23) },
        { label: 'volume ahead', stroke: colour('--s1'), width: 1.5, paths: uPlot.paths.stepped({ align: 1 }) }],
    }), [data.queue.map(([time]) => time), data.queue.map(([, ahead]) => ahead)]);
  }
`;
