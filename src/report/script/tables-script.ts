/** Script of the pages: tables sort, filter, copy and save; tabs. */
export const TABLES_SCRIPT = `
  const text = (cell) => cell.textContent.replaceAll('−', '-');
  /** Numbers lose thousands separators, plus and unit; text stays. */
  const plain = (cell) => {
    if (cell.dataset.exact !== undefined) return cell.dataset.exact;
    const value = text(cell).trim().replace(/^\\+/, '');
    return /^-?[\\d,]*\\.?\\d+(?:\\s%)?$/.test(value) ? value.replaceAll(',', '').replace(/\\s%/, '') : value;
  };
  const key = (cell) => {
    // An order is #12.
    const value = plain(cell).replace(/^#(?=\\d+$)/, '');
    return value !== '' && !Number.isNaN(Number(value)) ? Number(value) : value;
  };
  const rowsOf = (table) => [...table.tBodies[0].rows];
  const grid = (table) => [[...table.tHead.rows[0].cells], ...rowsOf(table).filter((row) => !row.hidden).map((row) => [...row.cells])];
  /** Text that a spreadsheet would take for a formula; a negative number may have a unit. */
  const isFormula = (value) => /^[=@\\t\\r]|^[+-](?![\\d.,]+(?:\\s[\\w%]+)?$)/.test(value);
  const inert = (value) => isFormula(value) ? "'" + value : value;
  const quoted = (value) => /[",\\r\\n]/.test(value) ? '"' + value.replaceAll('"', '""') + '"' : value;
  for (const bar of document.querySelectorAll('.toolbar:not(.choices)')) {
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
      if (!row || !table.contains(row)) return;
      showAll();
      // A filter may have hidden it.
      if (row.hidden) { search.value = ''; search.dispatchEvent(new Event('input')); }
      row.scrollIntoView({ block: 'center' });
    };
    addEventListener('hashchange', reveal);
    reveal();
    find('copies').addEventListener('click', async (event) => {
      const lines = grid(table).map((cells) => cells.map((cell) => inert(plain(cell)).replace(/[\\t\\r\\n]+/g, ' ')).join('\\t')).join('\\n');
      try { await navigator.clipboard.writeText(lines); event.target.textContent = 'Copied'; } catch { event.target.textContent = 'The browser refuses to copy'; }
    });
    find('saves').addEventListener('click', () => {
      const lines = grid(table).map((cells) => cells.map((cell) => quoted(inert(plain(cell)))).join(',')).join('\\n') + '\\n';
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

  for (const button of document.querySelectorAll('[data-copies-text]')) {
    button.addEventListener('click', async () => {
      try { await navigator.clipboard.writeText(button.dataset.copiesText); button.textContent = 'Copied'; } catch { button.textContent = 'The browser refuses to copy'; }
    });
  }

  // Tabs: arrow keys move, a link into a hidden one shows it.
  for (const list of document.querySelectorAll('[role=tablist]')) {
    const tabs = [...list.querySelectorAll('[role=tab]')];
    const panelOf = (tab) => document.getElementById(tab.getAttribute('aria-controls'));
    const show = (chosen) => {
      for (const tab of tabs) {
        tab.setAttribute('aria-selected', String(tab === chosen));
        tab.tabIndex = tab === chosen ? 0 : -1;
        panelOf(tab).hidden = tab !== chosen;
      }
      dispatchEvent(new Event('resize'));
      requestAnimationFrame(() => requestAnimationFrame(() => { for (const refit of refits) refit(); }));
    };
    tabs.forEach((tab, i) => {
      tab.addEventListener('click', () => show(tab));
      tab.addEventListener('keydown', (event) => {
        const place = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: -1 }[event.key];
        if (place === undefined || isOfBrowser(event)) return;
        event.preventDefault();
        const next = tabs[(place + tabs.length) % tabs.length];
        next.focus();
        show(next);
      });
    });
    const open = () => {
      const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
      const tab = target && tabs.find((one) => panelOf(one).contains(target));
      if (tab && panelOf(tab).hidden) { show(tab); target.scrollIntoView({ block: 'center' }); }
    };
    show(tabs[0]);
    addEventListener('hashchange', open);
    open();
  }

  /** A fill of the address that is beyond the rows of the table is shown by itself. */
  const showFill = () => {
    const [id, index, fillId] = /^fill-(\\d+)-(\\d+)$/.exec(location.hash.slice(1)) ?? [];
    for (const box of document.querySelectorAll('[data-draws="fill"]')) {
      const { strategy } = box.closest('section').dataset;
      const isBeyond = strategy === index && document.getElementById(id) === null;
      const market = isBeyond && data.strategies[index].markets.find(({ fills }) => fills.some((fill) => String(fill[5]) === fillId));
      box.hidden = !market;
      if (!market) continue;
      const fill = market.fills.find((one) => String(one[5]) === fillId);
      box.textContent = 'Fill ' + fillId + ', ' + stamp(fill[0]).slice(0, 23) + ' UTC: ' + textOfFill(fill, market) + '. ' + box.dataset.beyond;
      document.getElementById('tab-' + index)?.click();
      box.scrollIntoView({ block: 'center' });
    }
  };
  addEventListener('hashchange', showFill);
  showFill();
`;
