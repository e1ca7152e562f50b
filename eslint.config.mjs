import js from '@eslint/js';
import tseslint from 'typescript-eslint';
import rooms from './.ci/rooms.cjs';

/** Net 2 of docs/DETERMINISM.md: deterministic rooms use nothing that differs between runs or machines. */
const DETERMINISTIC = [
  ...rooms.ROOMS.filter(({ pure }) => pure).map(({ name }) => `src/${name}/**/*.ts`),
  'src/search/samplers/*.ts',
];
const MATH =
  'pow|exp|expm1|log|log2|log10|log1p|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh|cbrt|hypot|random';

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', 'reports/**', 'coverage/**'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.test.json', './src/web/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: true },
      ],
      '@typescript-eslint/no-invalid-void-type': 'off',
      // Branded units are numbers and bigints; the rule does not see through the brand.
      '@typescript-eslint/no-unsafe-unary-minus': 'off',
      'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true } }],
    },
  },
  {
    // More parameters are a record: a call site then names them.
    files: ['src/**/*.ts', 'src/**/*.tsx'],
    rules: { '@typescript-eslint/max-params': ['error', { max: 5 }] },
  },
  {
    files: DETERMINISTIC,
    rules: {
      'no-restricted-globals': [
        'error',
        'Date',
        'Intl',
        'performance',
        'setTimeout',
        'setInterval',
        'setImmediate',
        'queueMicrotask',
        'fetch',
        'crypto',
        'process',
        'Buffer',
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: `MemberExpression[object.name='Math'][property.name=/^(${MATH})$/]`,
          message: 'Implementation-approximated or random: results differ between engines.',
        },
        {
          selector: "MemberExpression[object.name='Math'][computed=true]",
          message: 'Name the Math function, so that the ban can see it.',
        },
        {
          selector: "VariableDeclarator[init.name='Math'], AssignmentExpression[right.name='Math']",
          message: 'Math has no other name here, so that the ban can see it.',
        },
        {
          selector:
            "BinaryExpression[operator='**']:not([left.type='Literal'][right.type='Literal']):not([left.bigint])",
          message: '** is approximated for numbers; use multiplication.',
        },
        {
          selector: 'MemberExpression[property.name=/^(localeCompare|toLocale\\w*)$/]',
          message: 'Depends on the locale of the machine.',
        },
        {
          selector: 'ForInStatement',
          message: 'Order of keys is not a contract; use Object.keys.',
        },
        {
          selector: "MemberExpression[object.name='globalThis']",
          message: 'A way around the bans above.',
        },
      ],
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: ['node:*', 'fs', 'path', 'crypto', 'os'],
              message: 'No platform up to floor 5.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['src/engine/book/*.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    files: ['**/*.mjs', '**/*.cjs', 'vitest.config.ts'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: {
      globals: {
        ...{ console: 'readonly', fetch: 'readonly', performance: 'readonly', process: 'readonly' },
        ...{ clearInterval: 'readonly', setInterval: 'readonly' },
        ...{ clearTimeout: 'readonly', setTimeout: 'readonly' },
        ...{ URL: 'readonly', module: 'writable' },
      },
    },
    rules: { 'no-restricted-exports': 'off' },
  },
  {
    // A strategy file is its default export, and so is a style sheet.
    files: [
      'src/web/assets.d.ts',
      'examples/{strategies,templates}/**/*.ts',
      'test/peers/{all-in-cross,candle-rules,lean-hourly,long-cross}.ts',
      'test/strategy-loader/indicators/*.ts',
    ],
    rules: { 'no-restricted-exports': 'off' },
  },
  {
    // Its sides are an ambient enum, which has no value to import.
    files: ['src/web/time-machine/account-chart.tsx'],
    rules: { '@typescript-eslint/no-unsafe-enum-assignment': 'off' },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/restrict-template-expressions': 'off',
    },
  },
);
