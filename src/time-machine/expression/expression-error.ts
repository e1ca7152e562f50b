/** Errors of expressions. */
import { UserError } from '../../base/user-error.ts';

/** A refused expression; `position` counts characters from 0. */
export class ExpressionError extends UserError {
  override readonly name = 'ExpressionError';
  readonly code = 'expression';
  readonly position: number;
  private readonly fault: string;

  constructor(position: number, message: string, place = '') {
    super(`${place}column ${String(position + 1)}: ${message}`, { field: 'expression' });
    this.position = position;
    this.fault = message;
  }

  /** The same error, found while the expression was evaluated after a command. */
  afterCommand(seq: number): ExpressionError {
    return new ExpressionError(this.position, this.fault, `after command ${String(seq)}, `);
  }
}
