/**
 * Net 3 of docs/DETERMINISM.md: while the engine applies a command, clocks and randomness throw. It
 * catches at run time the uses that lint cannot find.
 */
import { Exchange } from '../../src/engine/exchange.ts';

const forbidden = (name: string) => (): never => {
  throw new Error(`${name} was used while the engine applied a command`);
};

const RealDate = globalThis.Date;
const realRandom = Math.random;
const realNow = performance.now.bind(performance);
// A class that throws on any use; Date is a constructor, so a function suffices.
const PoisonedDate = forbidden('Date') as unknown as DateConstructor;
PoisonedDate.now = forbidden('Date.now');

type Apply = typeof Exchange.prototype.apply;
// The method is called with its own exchange below.
// eslint-disable-next-line @typescript-eslint/unbound-method
const apply: Apply = Exchange.prototype.apply;

// Test files of one process share the class.
if (apply.name !== 'poisoned')
  Exchange.prototype.apply = function poisoned(this: Exchange, command, emit) {
    globalThis.Date = PoisonedDate;
    Math.random = forbidden('Math.random');
    performance.now = forbidden('performance.now');
    try {
      return apply.call(this, command, emit);
    } finally {
      globalThis.Date = RealDate;
      Math.random = realRandom;
      performance.now = realNow;
    }
  };
