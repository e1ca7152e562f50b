/** Script of the pages: the equity and the price of a strategy over one time axis. */
export const CURVES_SCRIPT = `
  /** Redraws that a tab needs when it is shown. */
  const refits = [];
  /** Decimals that leave six digits of a plotted value. */
  const sixDigits = (value) => Math.max(0, Math.min(8, 5 - Math.floor(Math.log10(Math.abs(value) || 1))));

  /** Decimals of money on an axis: two, and more if that would leave its ticks equal. */
  const decimalsOfRange = (values) => {
    const known = values.filter((value) => value !== null);
    const low = known.reduce((least, value) => Math.min(least, value), Infinity);
    const high = known.reduce((most, value) => Math.max(most, value), -Infinity);
    const size = high > low ? high - low : Math.abs(high);
    return size > 0 && size < 1 ? Math.max(2, Math.min(6, 1 - Math.floor(Math.log10(size)))) : 2;
  };

  const textOfFill = ([, side, at, size, role, , tag, order], { decimals }) => (side > 0 ? 'buy ' : 'sell ') + size + ' at ' + number(Number(at), decimals) + ' as ' + role + ', order #' + order + (tag ? ': ' + tag : '');

  /**
   * Draws the two charts of a strategy over one time axis. Points are placed by their index and
   * labelled with their time, so samples of one second stay apart. The visible range and the
   * pointer of both charts follow each other.
   */
  const drawCurves = (part, curves, index) => {
    const all = curves.time;
    const span = all[all.length - 1] - all[0];
    const select = part('market');
    const lengths = part('candles');
    /** What is drawn: its times, and the row of each; all rows, or the last row of each candle. */
    let time = all;
    let rows = all.map((_, row) => row);
    let candles = [];
    const line = (values) => time.map((at, k) => values[rows[k]] === null ? { time: at } : { time: at, value: values[rows[k]] });
    const lastAt = (times, at) => {
      let from = 0, to = times.length;
      while (from < to) { const middle = (from + to) >> 1; if (times[middle] <= at) from = middle + 1; else to = middle; }
      return Math.max(0, from - 1);
    };
    /** The candles of the data joined into longer ones. */
    const joined = (seconds) => {
      const longer = [];
      for (const [start, open, high, low, close] of market().candles.rows) {
        const at = Math.floor(start / seconds) * seconds;
        const last = longer[longer.length - 1];
        if (last && last.time === at) { last.high = Math.max(last.high, high); last.low = Math.min(last.low, low); last.close = close; }
        else longer.push({ time: at, open, high, low, close });
      }
      return longer;
    };
    const choose = () => {
      const seconds = Number(lengths.value);
      candles = seconds === 0 ? [] : joined(seconds);
      time = seconds === 0 ? all : candles.map(({ time: at }) => at);
      rows = seconds === 0 ? all.map((_, row) => row) : time.map((at) => lastAt(all, at + seconds - 1e-6));
    };
    /** Lengths of candles that the market's data give. */
    const offer = () => {
      const { candles: base } = market();
      const chosen = lengths.value;
      const names = [[1, '1 s'], [5, '5 s'], [15, '15 s'], [60, '1 min'], [300, '5 min'], [900, '15 min'], [3600, '1 h'], [14400, '4 h'], [86400, '1 d'], [604800, '1 week']];
      const fitting = base === null ? [] : names.filter(([seconds]) => seconds >= base.seconds && seconds % base.seconds === 0 && span / seconds >= 12);
      const options = [[0, 'line'], ...fitting.map(([seconds, name]) => [seconds, 'candles of ' + name])];
      lengths.replaceChildren(...options.map(([seconds, name]) => { const option = document.createElement('option'); option.value = String(seconds); option.textContent = name; return option; }));
      if (options.some(([seconds]) => String(seconds) === chosen)) lengths.value = chosen;
    };
    const make = (root) => library.createChart(root, { autoSize: true, ...theme(span) });
    const custom = (decimals) => ({ type: 'custom', minMove: Number('1e-' + decimals), formatter: (value) => number(value, decimals) });
    const add = (chart, kind, pane, options) => chart.addSeries(kind, { lineWidth: 1, priceLineVisible: false, lastValueVisible: false, ...options }, pane);
    const top = make(part('equity'));
    const moneyDecimals = decimalsOfRange([...curves.equity, ...curves.hold]);
    const equity = add(top, library.LineSeries, 0, { lineWidth: 2, lastValueVisible: true, priceFormat: custom(moneyDecimals) });
    const hold = add(top, library.LineSeries, 0, { lineStyle: 2, priceFormat: custom(moneyDecimals) });
    // A fall of less than 0.01 % has two digits as well.
    const deepest = curves.underwater.reduce((most, value) => Math.max(most, -(value ?? 0)), 0);
    const fallDecimals = deepest === 0 ? 2 : Math.min(6, Math.max(2, 1 - Math.floor(Math.log10(deepest))));
    const fallen = (value) => number(value, fallDecimals) + '\u202f%';
    /** Without a fall the line is in the middle of its pane: an area above would look like one. */
    const shade = () => deepest === 0 ? 'transparent' : colour('--s3') + '30';
    const fall = add(top, library.AreaSeries, 1, { priceFormat: { ...custom(fallDecimals), formatter: fallen }, invertFilledArea: true });
    const low = make(part('price-fills'));
    const price = add(low, library.LineSeries, 0, { lastValueVisible: true });
    const bars = add(low, library.CandlestickSeries, 0, { lastValueVisible: true });
    const shown = () => candles.length > 0 ? bars : price;
    const held = add(low, library.HistogramSeries, 1, { base: 0 });
    const leverage = add(low, library.LineSeries, 2, { priceFormat: custom(3) });
    const margin = add(low, library.LineSeries, 2, { lineStyle: 2, priceFormat: { ...custom(2), formatter: (value) => number(value, 2) + '\u202f%' }, priceScaleId: 'left' });
    low.applyOptions({ leftPriceScale: { visible: true } });
    const markers = new Map([price, bars].map((series) => [series, library.createSeriesMarkers(series, [])]));
    const tip = document.createElement('div');
    tip.className = 'tip';
    tip.hidden = true;
    part('price-fills').append(tip);
    /** Series that the strategy plotted, of the market that is shown. */
    let plots = [];
    const plotColour = (i) => colour(['--s2', '--s3', '--s4', '--s1', '--s5'][i % 5]);
    const drawPlots = () => {
      for (const one of plots) low.removeSeries(one.series);
      const { decimals, plots: all } = market();
      const below = all.filter(({ pane }) => pane === 'below');
      plots = all.map((plot, i) => {
        const { name, pane, values } = plot;
        const largest = values.reduce((most, value) => Math.max(most, Math.abs(value ?? 0)), 0);
        const own = pane === 'below';
        const series = add(low, library.LineSeries, own ? 3 + below.indexOf(plot) : 0,
          { title: name, color: plotColour(i), lineStyle: own || i < 2 ? 0 : 2, priceFormat: custom(own ? Math.max(0, sixDigits(largest) - 2) : Math.min(8, decimals + 1)) });
        series.setData(line(values));
        return { series, name, values };
      });
      const root = part('price-fills');
      root.dataset.plots = String(plots.length);
      // Each has a pane of its own, and the chart grows with their number.
      root.style.setProperty('--panes', String(below.length));
      share(low, [5, 2, 2, ...below.map(() => 1.5)]);
      root.dataset.panes = String(low.panes().length);
    };
    const share = (chart, shares) => shares.forEach((factor, i) => chart.panes()[i] && chart.panes()[i].setStretchFactor(factor));

    const rowOf = (at) => lastAt(time, at);
    const market = () => curves.markets[Number(select ? select.value : 0)];
    /** Each fill with its row. */
    let placed = [];
    /** Fills of one side that are close together, with the rows of the first and the last. */
    let groups = [];
    const group = () => {
      const range = low.timeScale().getVisibleLogicalRange();
      const inView = range === null ? time.length : Math.max(1, range.to - range.from);
      const width = Math.max(1, low.timeScale().width());
      const rowsOf = (px) => (inView * px) / width;
      const bucket = Math.max(1, Math.round(rowsOf(14)));
      // The number beside an arrow is cut at an edge of the chart.
      const room = bucket === 1 ? 0 : Math.ceil(rowsOf(16));
      const first = Math.max(0, range === null ? 0 : Math.ceil(range.from)) + room;
      const last = Math.min(time.length - 1, range === null ? Infinity : Math.floor(range.to)) - room;
      const inside = (row) => (first > last || Math.abs(row - first) > room + 1 && Math.abs(row - last) > room + 1 ? row : Math.min(last, Math.max(first, row)));
      const found = [];
      const newest = {};
      for (const { row, fill } of placed) {
        const side = fill[1] > 0 ? 1 : -1;
        const open = newest[side];
        // A number needs more room than an arrow, by its digits.
        const room = open && open.fills.length > 1 ? 16 + 7 * String(open.fills.length).length : 14;
        const away = open ? row - (open.fills.length > 1 ? inside(open.row) : open.row) : Infinity;
        if (away <= 0 || away < rowsOf(room)) { open.fills.push(fill); open.to = row; }
        else found.push(newest[side] = { row, to: row, side, fills: [fill] });
      }
      groups = found;
      markers.get(shown() === price ? bars : price).setMarkers([]);
      markers.get(shown()).setMarkers(groups.map(({ row, side, fills: all }) => ({
        time: time[all.length > 1 ? inside(row) : row], position: side > 0 ? 'belowBar' : 'aboveBar', shape: side > 0 ? 'arrowUp' : 'arrowDown',
        color: colour(side > 0 ? '--gain' : '--loss'), size: 0.7, ...(all.length > 1 ? { text: '×' + all.length } : {}),
      })).sort((a, b) => a.time - b.time));
      part('price-fills').dataset.markers = String(groups.length);
      part('price-fills').dataset.inView = String(Math.round(inView));
      return bucket;
    };
    let bucket = 1;
    const paint = () => {
      offer();
      choose();
      const { decimals, lotDecimals, mid, position, fills } = market();
      placed = fills.map((fill) => ({ row: rowOf(fill[0]), fill }));
      top.applyOptions(theme(span));
      low.applyOptions(theme(span));
      price.applyOptions({ color: colour('--text-2'), priceFormat: custom(Math.min(8, decimals + 1)) });
      equity.applyOptions({ color: colour('--s1') });
      hold.applyOptions({ color: colour('--s5') });
      fall.applyOptions({ lineColor: colour('--s3'), topColor: shade(), bottomColor: shade() });
      held.applyOptions({ color: colour('--s2'), priceFormat: custom(lotDecimals) });
      leverage.applyOptions({ color: colour('--s4') });
      margin.applyOptions({ color: colour('--s3') });
      bars.applyOptions({ priceFormat: custom(decimals), upColor: 'transparent', borderUpColor: colour('--gain'), wickUpColor: colour('--gain'),
        downColor: colour('--loss'), borderDownColor: colour('--loss'), wickDownColor: colour('--loss') });
      equity.setData(line(curves.equity));
      hold.setData(line(curves.hold));
      fall.setData(line(curves.underwater));
      leverage.setData(line(curves.leverage));
      margin.setData(line(curves.margin));
      price.setData(candles.length > 0 ? [] : line(mid));
      bars.setData(candles);
      held.setData(line(position));
      part('price-fills').dataset.candles = String(candles.length);
      drawPlots();
      bucket = group();
      read(time.length - 1);
    };
    const write = (name, text) => { const cell = part.read(name); if (cell) cell.textContent = text; };
    const fillText = (fill) => textOfFill(fill, market());
    const near = (k) => groups.filter(({ row, to }) => k >= row - bucket / 2 && k <= to + bucket / 2).flatMap(({ fills }) => fills);
    /** Fills under the pointer with their reasons. */
    const hover = (k, point) => {
      const here = k === null || !point ? [] : near(k);
      tip.hidden = here.length === 0;
      if (tip.hidden) return;
      const lines = here.slice(0, 6).map((fill) => stamp(fill[0]).slice(11, 23) + '  ' + fillText(fill));
      if (here.length > 6) lines.push('and ' + (here.length - 6) + ' more');
      tip.textContent = lines.join('\\n');
      const width = part('price-fills').clientWidth;
      tip.style.left = Math.max(0, Math.min(width - tip.offsetWidth - 8, point.x + 16)) + 'px';
      tip.style.top = Math.max(0, point.y - tip.offsetHeight - 12) + 'px';
    };
    /** Values under the pointer, or the last ones. */
    const read = (k) => {
      const row = rows[k];
      const { decimals, lotDecimals, mid, position } = market();
      write('equity', number(curves.equity[row], moneyDecimals));
      write('hold', number(curves.hold[row], moneyDecimals));
      write('fall', fallen(curves.underwater[row]));
      const candle = candles[k];
      write('mid', candle ? 'open ' + number(candle.open, decimals) + ' high ' + number(candle.high, decimals) + ' low ' + number(candle.low, decimals) + ' close ' + number(candle.close, decimals) : number(mid[row], decimals + 1));
      write('position', number(position[row], lotDecimals));
      write('leverage', number(curves.leverage[row], 3));
      write('margin', number(curves.margin[row], 2) + '\u202f%');
      const here = near(k);
      const text = here.slice(0, 2).map(fillText).join('; ');
      write('plots', plots.length === 0 ? '–' : plots.map(({ name, values }) => name + ' ' + number(values[row], sixDigits(values[row]))).join(', '));
      write('fills', here.length === 0 ? '–' : text + (here.length > 2 ? ' and ' + (here.length - 2) + ' more' : ''));
    };
    paint();
    themed.push(paint);
    /** The width of a sheet is not known to the script: pictures are scaled to it. */
    const asPicture = (chart, root) => {
      if (root.clientWidth === 0) return () => {};
      const scale = chart.timeScale();
      const range = scale.getVisibleLogicalRange();
      const shape = () => { if (range) scale.setVisibleLogicalRange(range); if (chart === low) bucket = group(); };
      chart.applyOptions({ autoSize: false });
      chart.resize(widthOf(root), root.clientHeight, true);
      shape();
      const picture = chart.takeScreenshot();
      picture.className = 'picture';
      root.append(picture);
      return () => {
        picture.remove();
        chart.resize(root.clientWidth, root.clientHeight, true);
        shape();
        chart.applyOptions({ autoSize: true });
      };
    };
    pictured.push(() => asPicture(top, part('equity')), () => asPicture(low, part('price-fills')));
    if (select) select.addEventListener('change', paint);
    lengths.addEventListener('change', () => { paint(); fit(); });
    share(top, [3, 1]);
    const follow = (from, to, series, isPrice) => {
      from.timeScale().subscribeVisibleLogicalRangeChange((range) => {
        const other = to.timeScale().getVisibleLogicalRange();
        if (range && (!other || Math.abs(other.from - range.from) + Math.abs(other.to - range.to) > 1e-6)) to.timeScale().setVisibleLogicalRange(range);
        if (from === low) bucket = group();
      });
      from.subscribeCrosshairMove(({ time: at, logical, point, sourceEvent }) => {
        if (!sourceEvent) return;
        if (at === undefined) { to.clearCrosshairPosition(); read(time.length - 1); hover(null); return; }
        const row = Math.min(time.length - 1, Math.max(0, Math.round(logical)));
        to.setCrosshairPosition(NaN, time[row], series());
        read(row);
        if (isPrice) hover(row, point);
      });
    };
    fall.priceScale().applyOptions({ scaleMargins: { top: 0.02, bottom: 0.08 } });
    follow(top, low, shown, false);
    follow(low, top, () => equity, true);
    /** The library keeps the distance of points, which cuts them in a narrower chart. */
    const keepRange = (chart, root) => {
      const scale = chart.timeScale();
      let width = root.clientWidth, range = scale.getVisibleLogicalRange();
      scale.subscribeVisibleLogicalRangeChange((now) => { if (range === null || root.clientWidth === width) range = now; });
      // The chart takes its new width after this event, and then shows another range.
      scale.subscribeSizeChange(() => requestAnimationFrame(() => {
        width = root.clientWidth;
        if (range) scale.setVisibleLogicalRange(range);
        if (chart === low) bucket = group();
      }));
    };
    keepRange(top, part('equity'));
    keepRange(low, part('price-fills'));
    // The charts have their width after the next layout.
    const fit = () => { top.timeScale().fitContent(); low.timeScale().fitContent(); };
    fit();
    requestAnimationFrame(() => requestAnimationFrame(fit));
    low.subscribeClick(({ logical }) => {
      if (logical === undefined || logical === null) return;
      const close = groups.filter(({ row, to }) => logical >= row - Math.max(1, bucket) && logical <= to + Math.max(1, bucket));
      if (close.length > 0) goTo('fill-' + index + '-' + close[0].fills[0][5]);
    });
    refits.push(fit);
    part('equity').dataset.ready = 'true';
    part('price-fills').dataset.ready = 'true';
  };

`;
