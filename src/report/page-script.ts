/**
 * The report's own script, as text that goes into the page: it draws the four panes from the page's data and filters
 * the table of fills. It runs in a browser, after the chart library.
 */
export const PAGE_SCRIPT = `
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const root = document.getElementById('charts');
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const charts = window.LightweightCharts;
  const seconds = (us) => Math.floor(us / 1e6);

  const theme = () => ({
    layout: { background: { color: 'transparent' }, textColor: colour('--soft'), fontSize: 12,
      panes: { separatorColor: colour('--rule'), separatorHoverColor: colour('--rule') } },
    grid: { vertLines: { color: colour('--rule') }, horzLines: { color: colour('--rule') } },
    rightPriceScale: { borderColor: colour('--rule'), minimumWidth: 86 },
    timeScale: { borderColor: colour('--rule'), timeVisible: true, secondsVisible: true },
    crosshair: { mode: 0 },
  });

  if (data.series.length > 0) {
    const chart = charts.createChart(root, { autoSize: true, ...theme() });
    const points = [];
    for (const point of data.series) {
      const time = seconds(point.timeUs);
      if (points.length > 0 && points[points.length - 1].time === time) points.pop();
      points.push({ time, point });
    }
    const line = (field) => points.map(({ time, point }) => ({ time, value: point[field] }));
    const price = chart.addSeries(charts.LineSeries, { title: 'mid', lineWidth: 1, priceFormat: data.priceFormat }, 0);
    const equity = chart.addSeries(charts.LineSeries, { title: 'equity', lineWidth: 2, priceFormat: data.moneyFormat }, 1);
    const fall = chart.addSeries(charts.AreaSeries, { title: 'drawdown', lineWidth: 1, priceFormat: data.moneyFormat, invertFilledArea: true }, 2);
    const held = chart.addSeries(charts.HistogramSeries, { title: 'position', base: 0, priceFormat: data.sizeFormat }, 3);
    price.setData(line('mid'));
    equity.setData(line('equity'));
    fall.setData(line('drawdown'));
    held.setData(line('position'));

    const times = points.map(({ time }) => time);
    const before = (time) => {
      let low = 0, high = times.length;
      while (low < high) { const middle = (low + high) >> 1; if (times[middle] <= time) low = middle + 1; else high = middle; }
      return times[Math.max(0, low - 1)];
    };
    const markers = charts.createSeriesMarkers(price, []);
    const paint = () => {
      chart.applyOptions(theme());
      price.applyOptions({ color: colour('--line') });
      equity.applyOptions({ color: colour('--equity') });
      fall.applyOptions({ lineColor: colour('--fall'), topColor: colour('--fall') + '30', bottomColor: colour('--fall') + '30' });
      held.applyOptions({ color: colour('--hold') });
      // One mark for all fills of a side within one sample: partial fills would pile up.
      const marks = new Map();
      for (const fill of data.fills) {
        const time = before(seconds(fill.timeUs));
        marks.set(time + fill.side, { time, side: fill.side });
      }
      markers.setMarkers([...marks.values()].map(({ time, side }) => ({
        time,
        position: side === 'buy' ? 'belowBar' : 'aboveBar',
        shape: side === 'buy' ? 'arrowUp' : 'arrowDown',
        color: colour(side === 'buy' ? '--buy' : '--sell'),
        size: 0.7,
      })));
      root.dataset.markers = String(marks.size);
    };
    paint();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);
    const panes = chart.panes();
    [5, 3, 2, 2].forEach((share, i) => panes[i] && panes[i].setStretchFactor(share));
    chart.timeScale().fitContent();
    root.dataset.ready = 'true';
  }

  const search = document.getElementById('search');
  const rows = [...document.querySelectorAll('#fills tbody tr')];
  if (search) search.addEventListener('input', () => {
    const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
})();
`;
