/** One rule a room, made from `.ci/rooms.cjs`, and no cycles. */
const { ROOMS } = require('./.ci/rooms.cjs');

const rules = ROOMS.flatMap(({ name, imports, packages, pure }) => [
  {
    name: `${name}-imports`,
    comment: `src/${name} imports ${imports.join(', ') || 'no other room'}`,
    severity: 'error',
    from: { path: `^src/${name}/` },
    to: { path: `^src/(?!(${[name, ...imports].join('|')})/)` },
  },
  {
    name: `${name}-npm-packages`,
    severity: 'error',
    from: { path: `^src/${name}/` },
    to: {
      dependencyTypes: ['npm', 'npm-dev', 'npm-no-pkg', 'npm-unknown', 'npm-optional', 'npm-peer'],
      ...(packages.length === 0 ? {} : { pathNot: `node_modules/(${packages.join('|')})/` }),
    },
  },
  ...(pure
    ? [
        {
          name: `${name}-imports-no-node-module`,
          severity: 'error',
          from: { path: `^src/${name}/` },
          to: { dependencyTypes: ['core'] },
        },
      ]
    : []),
]);
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
