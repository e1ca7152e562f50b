/** Alerts for operators (deploy/alerts.yaml) use metrics that a server has. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { Served } from './served.ts';

interface Rules {
  readonly groups: readonly { readonly rules: readonly { alert: string; expr: string }[] }[];
}

test('every alert names metrics of /metrics', async () => {
  const text = readFileSync(new URL('../../deploy/alerts.yaml', import.meta.url), 'utf8');
  const rules = (parse(text) as Rules).groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(5);
  const served = await Served.start();
  try {
    const metrics = (await served.send('GET', '/metrics')).text;
    const names = new Set([...metrics.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name));
    for (const { alert, expr } of rules) {
      const used = [...expr.matchAll(/(?:orrery|nodejs)_\w+/g)].map(([name]) => name);
      for (const name of used) {
        expect(names, alert).toContain(name.replace(/_(sum|count)$/, ''));
      }
    }
  } finally {
    await served.remove();
  }
});
