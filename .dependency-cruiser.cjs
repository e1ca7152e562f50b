/** The floors of docs/ARCHITECTURE.md: imports run downward only. */
const FLOORS = [
  ['num', 'base'],
  ['contract'],
  ['engine'],
  ['gateway'],
  ['sim'],
  ['scenario', 'backtest', 'fuzz', 'metrics', 'search'],
  ['store', 'wallet', 'report', 'http', 'strategies', 'cluster'],
  ['cli', 'web'],
];

/** npm packages that a folder may use; none unless named. */
const PACKAGES = {
  num: [],
  base: [],
  contract: ['typebox'],
  engine: [],
  gateway: [],
  sim: ['seedrandom', 'hyparquet', 'hyparquet-compressors', 'papaparse'],
  scenario: ['yaml', 'decimal.js', '@stdlib/[^/]+'],
  backtest: ['decimal.js'],
  fuzz: ['decimal.js', 'fast-check'],
  metrics: ['@stdlib/[^/]+'],
  search: ['@stdlib/[^/]+'],
};

const folder = (name) => `^src/${name}/`;
const rules = [];

FLOORS.forEach((rooms, floor) => {
  const above = FLOORS.slice(floor + 1).flat();
  if (above.length === 0) return;
  rules.push({
    name: `floor-${floor}-imports-downward`,
    severity: 'error',
    from: { path: `^src/(${rooms.join('|')})/` },
    to: { path: `^src/(${above.join('|')})/` },
  });
});
for (const room of FLOORS[5]) {
  const siblings = FLOORS[5].filter((other) => other !== room);
  rules.push({
    name: `${room}-imports-no-sibling`,
    severity: 'error',
    from: { path: folder(room) },
    to: { path: `^src/(${siblings.join('|')})/` },
  });
}
rules.push({
  name: 'engine-imports-num-and-base-only',
  severity: 'error',
  from: { path: folder('engine') },
  to: { path: '^src/(?!engine/|num/|base/)' },
});
rules.push({
  name: 'no-node-modules-up-to-floor-5',
  severity: 'error',
  from: { path: `^src/(${FLOORS.slice(0, 6).flat().join('|')})/` },
  to: { dependencyTypes: ['core'] },
});
for (const [room, allowed] of Object.entries(PACKAGES)) {
  rules.push({
    name: `${room}-npm-packages`,
    severity: 'error',
    from: { path: folder(room) },
    to: {
      dependencyTypes: ['npm', 'npm-dev', 'npm-no-pkg', 'npm-unknown'],
      ...(allowed.length === 0 ? {} : { pathNot: `node_modules/(${allowed.join('|')})/` }),
    },
  });
}
rules.push({
  name: 'no-cycles',
  severity: 'error',
  from: { path: '^src/' },
  to: { circular: true },
});

module.exports = {
  forbidden: rules,
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types'] },
  },
};
