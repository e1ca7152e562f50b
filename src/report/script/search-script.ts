/** Script of the pages: charts of sweeps and of walk-forward analyses. */
export const SEARCH_SCRIPT = `
  const shortly = (digits) => (_, value) => value === null ? '–' : value !== 0 && Math.abs(value) < 10 ** -digits ? number(value, Math.min(12, 1 - Math.floor(Math.log10(Math.abs(value))))) : number(value, digits);
  /** Shades every second test. */
  const shadeTests = (tests) => (chart) => {
    const { ctx, bbox } = chart;
    ctx.save();
    ctx.fillStyle = colour('--text') + '12';
    tests.forEach(([from, to], i) => {
      if (i % 2 === 0) return;
      const left = Math.max(bbox.left, chart.valToPos(from, 'x', true));
      const right = Math.min(bbox.left + bbox.width, chart.valToPos(to, 'x', true));
      if (right > left) ctx.fillRect(left, bbox.top, right - left, bbox.height);
    });
    ctx.restore();
  };
  /** Joins the scores of a window in and out of sample. */
  const linkScores = (scores) => (chart) => {
    const { ctx } = chart;
    ctx.save();
    ctx.strokeStyle = colour('--line-strong');
    ctx.beginPath();
    scores.forEach(([inside, outside], i) => {
      if (inside === null || outside === null) return;
      const x = chart.valToPos(i + 1, 'x', true);
      ctx.moveTo(x, chart.valToPos(inside, 'y', true));
      ctx.lineTo(x, chart.valToPos(outside, 'y', true));
    });
    ctx.stroke();
    ctx.restore();
  };
  /** The growth is above the drawdown; one that is constant has a range, too. */
  const grown = (low, span) => [low - span * 0.5, low + span * 1.05];
  const drawChain = (root, { time, growth, underwater }, tests, fell = underwater.some((value) => value < -1e-6)) => small(root, () => ({
    hooks: { drawClear: [shadeTests(tests)] },
    height: 340,
    scales: { growth: { range: (_, low, high) => grown(low, high - low || 0.01) },
      fall: { range: (_, low) => [Math.min(low, -1e-9), -3 * Math.min(low, -1e-9)] } },
    axes: [axis({ size: 40, space: closeness, values: clock }), axis({ scale: 'growth', size: 74, values: stepwise }),
      axis({ scale: 'fall', side: 1, size: 74, grid: { show: false }, ticks: { show: false }, filter: (_, ticks) => ticks.map((tick) => tick > 0 || (tick < 0 && !fell) ? null : tick), values: (_, ticks) => ticks.map((tick) => tick === null ? '' : number(tick, decimalsOf(tick)) + '\u202f%') })],
    series: [{ label: 'time', value: utc }, { label: 'growth of 1', scale: 'growth', stroke: colour('--s1'), width: 1.75, value: shortly(4) },
      { label: 'drawdown %', scale: 'fall', stroke: colour('--s3'), width: 1, fill: colour('--s3') + '30', fillTo: 0, value: shortly(2) }],
  }), [time, growth, underwater]);
  /** A fraction is shown in percent, as in the tables. */
  const scoreAxis = (isFraction) => axis({ values: !isFraction ? stepwise : (chart, ticks, nth, space, step) => stepwise(chart, ticks.map((tick) => tick * 100), nth, space, step * 100).map((text) => text + '\u202f%') });
  const scoreText = (isFraction) => !isFraction ? shortly(3) : (chart, value) => value === null ? '–' : shortly(3)(chart, value * 100) + '\u202f%';
  const dots = (name, size, isFraction) => ({ paths: () => null, points: { show: true, size, fill: colour(name), stroke: colour(name) }, stroke: colour(name), value: scoreText(isFraction) });
  const drawScores = (root, { scores, objective, isFraction }) => {
    small(root, () => ({
      hooks: { drawAxes: [linkScores(scores)] },
      scales: { x: { time: false, range: [0.5, scores.length + 0.5] }, y: scaleOf(isFraction ? 0.01 : 1) },
      axes: [axis({ size: 40, splits: () => scores.map((_, i) => i + 1), values: (_, ticks) => ticks.map(String) }), scoreAxis(isFraction)],
      series: [{ label: 'window' }, { label: objective + ' in sample', ...dots('--text-3', 7, isFraction) }, { label: 'out of sample', ...dots('--s1', 9, isFraction) }],
    }), [scores.map((_, i) => i + 1), scores.map(([inside]) => inside), scores.map(([, outside]) => outside)]);
  };
  if (data.walk) {
    const part = (name) => document.querySelector('[data-draws="' + name + '"]');
    if (part('chain')) drawChain(part('chain'), data.walk.chain, data.walk.tests);
    if (part('scores')) drawScores(part('scores'), data.walk);
  }

  const drawTrials = (root, { trials, objective, isFraction }) => {
    let best = null;
    const highest = trials.map(([, score]) => best = score === null ? best : best === null ? score : Math.max(best, score));
    small(root, () => ({
      scales: { x: { time: false, range: (_, low, high) => low < high ? [low, high] : [low - 0.5, low + 0.5] }, y: scaleOf(isFraction ? 0.01 : 1) },
      axes: [axis({ size: 40, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5] }), scoreAxis(isFraction)],
      series: [{ label: 'trial' }, { label: objective, ...dots('--s1', 5, isFraction) },
        { label: 'best so far', stroke: colour('--s2'), width: 1.5, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false }, value: scoreText(isFraction) }],
    }), [trials.map(([number]) => number), trials.map(([, score]) => score), highest]);
  };
  /** Ticks at the values that trials used, if there are few of them that are not close together. */
  const ticksOf = (points) => {
    const used = [...new Set(points.map(([value]) => value))];
    const span = used[used.length - 1] - used[0];
    const apart = used.every((value, i) => i === 0 || value - used[i - 1] >= span / 10);
    return used.length < 2 || !apart ? {} : { splits: (_, _axis, low, high) => used.filter((value) => value >= low && value <= high), values: (_, ticks) => ticks.map((tick) => number(tick, decimalsOf(tick))) };
  };
  const pen = document.createElement('canvas').getContext('2d');
  /** Text that is cut to a width, px. */
  const cutTo = (text, width) => {
    pen.font = '11px ' + family;
    if (pen.measureText(text).width <= width) return text;
    let kept = text.length;
    while (kept > 1 && pen.measureText(text.slice(0, kept) + '…').width > width) kept -= 1;
    return text.slice(0, kept) + '…';
  };
  /** Names of choices, cut to the room of each; the title has the whole one. */
  const cutNames = (labels) => (chart, ticks) => ticks.map((tick) => cutTo(labels[tick], chart.bbox.width / devicePixelRatio / labels.length - 8));
  /** Padding on both sides, so that trials at the min or max value are visible. */
  const drawParameter = (root, { name, labels, points }, { objective, isFraction }) => small(root, () => ({
    scales: { x: { time: false, range: (_, low, high) => labels ? [-0.5, labels.length - 0.5] : [low - ((high - low) * 0.04 || 1), high + ((high - low) * 0.04 || 1)] }, y: scaleOf(isFraction ? 0.01 : 1) },
    axes: [axis({ size: 40, ...(labels ? { splits: () => labels.map((_, i) => i), values: cutNames(labels) } : ticksOf(points)) }), scoreAxis(isFraction)],
    series: [{ label: name, value: (_, value) => value === null ? '–' : labels ? labels[value] : String(value) }, { label: objective, ...dots('--s1', 5, isFraction) }],
  }), [points.map(([value]) => value), points.map(([, score]) => score)]);
  if (data.sweep) {
    const part = (name) => document.querySelector('[data-draws="' + name + '"]');
    drawTrials(part('trials'), data.sweep);
    data.sweep.parameters.forEach((parameter, i) => drawParameter(part('parameter-' + i), parameter, data.sweep));
  }


  /** Zoomable heat map of the highest score of each pair of values. */
  const drawSurface = (canvas, { names, used, chosen, trials, best, objective, isFraction }) => {
    const axisOf = (name) => document.querySelector('[data-axis="' + name + '"]');
    const out = document.querySelector('[data-reads="surface"]');
    /** Screen readers read the cell that keys choose, not all that a pointer passes. */
    const spoken = document.querySelector('[data-reads="surface-keys"]');
    const unit = isFraction ? 100 : 1;
    /** Decimals that distinguish the scores. */
    const short = (value) => {
      const step = (high > low ? high - low : Math.abs(high) || 1) * unit / 50;
      return number(value * unit, Math.max(0, Math.min(8, Math.ceil(-Math.log10(step))))) + (isFraction ? '\\u202f%' : '');
    };
    const left = 88, bottom = 32, height = 360;
    let cells = new Map(), across = [], down = [], view = null, low = 0, high = 0, at = null;
    const place = () => {
      const [a, d] = [Number(axisOf('across').value), Number(axisOf('down').value)];
      across = used[a];
      down = used[d];
      cells = new Map();
      trials.forEach(([number, score], i) => {
        if (score === null) return;
        const key = across.indexOf(chosen[i][a]) + ':' + down.indexOf(chosen[i][d]);
        const known = cells.get(key);
        if (!known || score > known.score) cells.set(key, { number, score, ring: false });
        if (number === best) cells.get(key).ring = true;
      });
      const scores = [...cells.values()].map(({ score }) => score);
      low = scores.reduce((a, b) => Math.min(a, b), Infinity);
      high = scores.reduce((a, b) => Math.max(a, b), -Infinity);
      view = { x: 0, y: 0, width: across.length, height: down.length };
    };
    /** Relative luminance of a colour of six digits, or of a mix of two. */
    const channels = (name) => [1, 3, 5].map((at) => parseInt(colour(name).slice(at, at + 2), 16) / 255);
    const luminance = (parts) => { const [r, g, b] = parts.map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const shareOf = (score) => Math.round(high > low ? 8 + 84 * (score - low) / (high - low) : 50);
    /** Black or white, whichever has more contrast on the cell: 4.5 at least. */
    const inkOn = (score) => {
      const [ink, ground, share] = [channels('--s1'), channels('--bg'), shareOf(score) / 100];
      const cell = luminance(ink.map((part, i) => part * share + ground[i] * (1 - share)));
      const [onDark, onLight] = [contrast(cell, 1), contrast(cell, 0)];
      canvas.dataset.contrast = String(Math.min(Number(canvas.dataset.contrast || 21), Math.max(onDark, onLight)));
      return onDark > onLight ? 'white' : 'black';
    };
    /** Light to dark by rank between the lowest and the highest score. */
    const paintOf = (score) => 'color-mix(in srgb, ' + colour('--s1') + ' ' + shareOf(score) + '%, ' + colour('--bg') + ')';
    const draw = () => {
      const width = widthOf(canvas), scale = devicePixelRatio || 1;
      canvas.width = width * scale;
      canvas.height = height * scale;
      canvas.style.height = height + 'px';
      const ctx = canvas.getContext('2d');
      ctx.scale(scale, scale);
      ctx.font = '11px ' + family;
      const [w, h] = [(width - left) / view.width, (height - bottom) / view.height];
      ctx.save();
      ctx.beginPath();
      ctx.rect(left, 0, width - left, height - bottom);
      ctx.clip();
      ctx.textAlign = 'center';
      ctx.textBaseline = 'middle';
      for (const [key, { score, ring }] of cells) {
        const [i, k] = key.split(':').map(Number);
        const [x, y] = [left + (i - view.x) * w, (k - view.y) * h];
        ctx.fillStyle = paintOf(score);
        ctx.fillRect(x + 0.5, y + 0.5, Math.max(1, w - 1), Math.max(1, h - 1));
        if (w > 52 && h > 16) {
          ctx.fillStyle = inkOn(score);
          ctx.fillText(short(score), x + w / 2, y + h / 2);
        }
        if (ring || (at && at[0] === i && at[1] === k)) {
          ctx.strokeStyle = colour(ring ? '--s2' : '--text');
          ctx.lineWidth = 2;
          ctx.strokeRect(x + 1.5, y + 1.5, Math.max(1, w - 3), Math.max(1, h - 3));
        }
      }
      ctx.restore();
      ctx.fillStyle = colour('--text-3');
      ctx.textAlign = 'right';
      ctx.textBaseline = 'middle';
      const every = (size, space) => Math.max(1, Math.ceil(space / size));
      let labelled = -Infinity;
      for (let k = Math.ceil(view.y); k < Math.min(down.length, view.y + view.height); k += every(h, 14)) {
        // The first one is not cut by the edge.
        const y = Math.max(6, (k + 0.5 - view.y) * h);
        if (y - labelled < 12) continue;
        labelled = y;
        ctx.fillText(cutTo(down[k], left - 12), left - 8, y);
      }
      ctx.textAlign = 'center';
      for (let i = Math.ceil(view.x); i < Math.min(across.length, view.x + view.width); i += every(w, 48)) ctx.fillText(cutTo(across[i], w * every(w, 48) - 8), left + (i + 0.5 - view.x) * w, height - bottom / 2 - 4);
      canvas.dataset.ready = 'true';
      canvas.dataset.columns = String(Math.round(view.width));
    };
    const say = () => {
      const cell = at && cells.get(at[0] + ':' + at[1]);
      const [a, d] = [names[Number(axisOf('across').value)], names[Number(axisOf('down').value)]];
      out.textContent = at === null ? '' : a + ' ' + across[at[0]] + ', ' + d + ' ' + down[at[1]] + ': ' + (cell ? objective + ' ' + short(cell.score) + ', trial ' + cell.number : 'no trial with a score');
    };
    const zoom = (factor, cx = 0.5, cy = 0.5) => {
      const width = Math.min(across.length, Math.max(2, view.width * factor)), tall = Math.min(down.length, Math.max(2, view.height * factor));
      view = { x: view.x + (view.width - width) * cx, y: view.y + (view.height - tall) * cy, width, height: tall };
      keep();
    };
    const keep = () => {
      view.x = Math.max(0, Math.min(across.length - view.width, view.x));
      view.y = Math.max(0, Math.min(down.length - view.height, view.y));
      draw();
    };
    const cellOf = ({ offsetX, offsetY }) => {
      const i = Math.floor(view.x + (offsetX - left) / (canvas.clientWidth - left) * view.width);
      const k = Math.floor(view.y + offsetY / (height - bottom) * view.height);
      return offsetX < left || offsetY > height - bottom || i >= across.length || k >= down.length ? null : [i, k];
    };
    const open = () => { const cell = at && cells.get(at[0] + ':' + at[1]); if (cell) goTo('trial-' + cell.number); };
    const again = () => { at = null; place(); say(); draw(); };
    canvas.addEventListener('wheel', (event) => {
      if (isOfBrowser(event)) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 0.8 : 1.25, Math.max(0, (event.offsetX - left) / (canvas.clientWidth - left)), Math.min(1, event.offsetY / (height - bottom)));
    }, { passive: false });
    let held = null, moved = false;
    canvas.addEventListener('pointerdown', (event) => { held = { x: event.offsetX, y: event.offsetY, view: { ...view } }; moved = false; });
    addEventListener('pointerup', () => { held = null; });
    canvas.addEventListener('pointermove', (event) => {
      if (held) {
        if (Math.abs(event.offsetX - held.x) + Math.abs(event.offsetY - held.y) > 4) moved = true;
        view.x = held.view.x - (event.offsetX - held.x) / (canvas.clientWidth - left) * view.width;
        view.y = held.view.y - (event.offsetY - held.y) / (height - bottom) * view.height;
        keep();
        return;
      }
      at = cellOf(event);
      say();
      draw();
    });
    canvas.addEventListener('click', (event) => { if (moved) return; at = cellOf(event); say(); open(); });
    canvas.addEventListener('keydown', (event) => {
      if (isOfBrowser(event)) return;
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (step) {
        at = at === null ? [Math.floor(view.x), Math.floor(view.y)] : [Math.max(0, Math.min(across.length - 1, at[0] + step[0])), Math.max(0, Math.min(down.length - 1, at[1] + step[1]))];
        view.x = Math.min(at[0], Math.max(view.x, at[0] + 1 - view.width));
        view.y = Math.min(at[1], Math.max(view.y, at[1] + 1 - view.height));
        say();
        spoken.textContent = out.textContent;
        keep();
      } else if (event.key === '+' || event.key === '=') zoom(0.7);
      else if (event.key === '-') zoom(1.4);
      else if (event.key === 'Enter') open();
      else return;
      event.preventDefault();
    });
    for (const button of document.querySelectorAll('[data-zooms]')) button.addEventListener('click', () => {
      if (button.dataset.zooms === 'all') again();
      else zoom(button.dataset.zooms === 'in' ? 0.7 : 1.4);
    });
    for (const name of ['across', 'down']) axisOf(name).addEventListener('change', again);
    again();
    themed.push(draw);
    addEventListener('resize', draw);
  };
  if (data.sweep) {
    const canvas = document.querySelector('canvas[data-draws="surface"]');
    if (canvas && data.sweep.trials.some(([, score]) => score !== null)) drawSurface(canvas, data.sweep);
    else if (canvas) canvas.hidden = true;
    /** The trial of the address, with the command that repeats it. */
    const detail = document.getElementById('trial-detail');
    const quoted = (value) => /^[\\w.:-]+$/.test(value) ? value : "'" + value.replaceAll("'", "'\\\\''") + "'";
    const showTrial = () => {
      const number = /^#trial-(\\d+)$/.exec(location.hash)?.[1];
      const i = data.sweep.trials.findIndex(([own]) => String(own) === number);
      detail.hidden = i < 0;
      if (i < 0) return;
      const parameters = data.sweep.names.map((name, k) => '--param ' + name + '=' + quoted(data.sweep.chosen[i][k])).join(' ');
      const title = document.createElement('p'), code = document.createElement('pre'), copy = document.createElement('button');
      const [score, command] = data.sweep.own[i];
      title.textContent = 'Trial ' + number + ': ' + data.sweep.objective + ' ' + (score === null ? '–' : data.sweep.isFraction ? shortly(4)(null, score * 100) + '\\u202f%' : shortly(4)(null, score)) + '. Repeat it with its report:';
      code.tabIndex = 0;
      code.textContent = data.sweep.commands[command] + ' ' + parameters;
      copy.textContent = 'Copy';
      copy.addEventListener('click', async () => {
        try { await navigator.clipboard.writeText(code.textContent); copy.textContent = 'Copied'; } catch { copy.textContent = 'The browser refuses to copy'; }
      });
      detail.replaceChildren(title, code, copy);
      if (!document.getElementById('trial-' + number)) detail.scrollIntoView({ block: 'center' });
    };
    addEventListener('hashchange', showTrial);
    showTrial();
  }
`;
