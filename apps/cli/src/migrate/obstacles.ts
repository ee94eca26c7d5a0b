/** A reason why a step of a move cannot end, or a move cannot begin. */
export interface ObstacleOf<C extends string> {
  readonly code: C;
  /** The server that it is about, where there is one. */
  readonly subject?: string;
  /** One sentence for operators. */
  readonly text: string;
  /** Whether it may be gone soon without an act of the operator. */
  readonly isForNow: boolean;
}

export function lasting<C extends string>(code: C, text: string): ObstacleOf<C> {
  return { code, text, isForNow: false };
}

export function passing<C extends string>(code: C, text: string, subject?: string): ObstacleOf<C> {
  return { code, text, isForNow: true, ...(subject === undefined ? {} : { subject }) };
}

/** A step cannot end. */
export class StepFailed<C extends string> extends Error {
  readonly obstacles: readonly ObstacleOf<C>[];

  constructor(obstacles: readonly ObstacleOf<C>[]) {
    super("a step cannot end");
    this.obstacles = obstacles;
  }
}
