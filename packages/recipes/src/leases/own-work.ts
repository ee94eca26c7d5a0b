import { AsyncLocalStorage } from "node:async_hooks";

/** Work in progress. */
interface Running {
  readonly of: OwnWork;
  /** Recipes whose end a call from inside of the work waits for; one entry for each call. */
  readonly awaited: OwnWork[];
  /** The work has ended, or waits for the recipe's end. */
  isHarmless: boolean;
  readonly harmless: PromiseWithResolvers<void>;
}

/** Where a call comes from: a piece of work, and the work in which its recipe was begun. */
interface Context {
  readonly running: Running;
  outer: Context | undefined;
  /** Calls that come later, from a timer that the piece has started, are not from inside. */
  isOver: boolean;
}

/** One for all recipes, so that a call from inside of several is known to be so. */
const contexts = new AsyncLocalStorage<Context>();

/** The work that has a signal. */
const holders = new WeakMap<AbortSignal, Context>();
/** The signals from which a signal of `anySignal` is derived. */
const sources = new WeakMap<AbortSignal, readonly AbortSignal[]>();

/**
 * Aborts its signal inside of the work that has it, whatever code calls `abort`: a listener of the
 * work is a part of the work, and may await the end of its recipe. Signals that are derived from it
 * abort there too.
 *
 * The work that has it is the one that makes it, until `OwnWork` hands it to other work.
 */
export class WorkController extends AbortController {
  constructor() {
    super();
    handTo(contexts.getStore(), this.signal);
  }

  override abort(reason: unknown): void {
    const [holder] = livingFrom(holders.get(this.signal));
    if (holder === undefined) super.abort(reason);
    else contexts.run(holder, () => super.abort(reason));
  }
}

/** A signal that aborts with the first of these, and can be handed to work. */
export function anySignal(signals: readonly AbortSignal[]): AbortSignal {
  const any = AbortSignal.any([...signals]);
  sources.set(any, signals);
  return any;
}

function handTo(context: Context | undefined, signal: AbortSignal): void {
  if (context !== undefined) holders.set(signal, context);
  for (const source of sources.get(signal) ?? []) handTo(context, source);
}

/**
 * Work of callers that a recipe runs and waits for at its end. Work that closes its own recipe and
 * waits for that would wait for itself:
 *
 * 1. The recipe runs the work.
 * 2. The work awaits `close()`.
 * 3. `close()` returns once no other work runs: the rest of the recipe's end follows that of this
 *    work.
 *
 * And so would work of two recipes that close each other: the call that completes such a circle, of
 * two recipes or of more, returns as one from inside of the own work does.
 *
 * A call is from inside until the work that made it has ended. One that is not awaited there cannot
 * be told from one that is: it returns early too, unless the work has ended by then.
 */
export class OwnWork {
  readonly #running = new Set<Running>();

  /**
   * @param signal the signal that the work gets, of a `WorkController` or of `anySignal`
   * @throws the error of the work; the signal's reason, without the work, if it has aborted already
   */
  run(work: () => unknown, signal: AbortSignal): Promise<void> {
    return this.runEach([work], signal);
  }

  /**
   * Runs pieces one after the other, which count as one work. The signal's abort keeps those from
   * their beginning that have not begun.
   */
  async runEach(pieces: readonly (() => unknown)[], signal: AbortSignal): Promise<void> {
    const harmless = Promise.withResolvers<void>();
    const running: Running = { of: this, awaited: [], isHarmless: false, harmless };
    this.#running.add(running);
    try {
      for (const piece of pieces) await runIn(running, piece, signal);
    } finally {
      this.#running.delete(running);
      noteHarmless(running);
    }
  }

  /**
   * Waits for the recipe's end; from inside of work that this would wait for, for all other work.
   */
  async untilEnded(ended: Promise<void>): Promise<void> {
    const callers = livingFrom(contexts.getStore());
    for (const { running } of callers) running.awaited.push(this);
    try {
      const own = callers.filter(({ running }) => running.of === this);
      for (const { running } of own) noteHarmless(running);
      const isCircle = reaches(this, new Set(callers.map(({ running }) => running.of)));
      if (own.length === 0 && !isCircle) return await ended;
      await this.#othersEnded(callers);
      // The work has not awaited the call.
      if ((own.length > 0 ? own : callers).every(({ isOver }) => isOver)) await ended;
    } finally {
      for (const { running } of callers) running.awaited.splice(running.awaited.indexOf(this), 1);
    }
  }

  /** Waits for work that does not wait for the callers. */
  async #othersEnded(callers: readonly Context[]): Promise<void> {
    const recipes = new Set(callers.map(({ running }) => running.of));
    const isOther = (running: Running): boolean =>
      !running.isHarmless && !running.awaited.some((awaited) => recipes.has(awaited) || reaches(awaited, recipes));
    for (;;) {
      const others = [...this.#running].filter(isOther);
      if (others.length === 0) return;
      await Promise.all(others.map(({ harmless }) => harmless.promise));
    }
  }

  /** The recipes whose end this one's end waits for, by its work. */
  *awaited(): Generator<OwnWork> {
    for (const { awaited } of this.#running) yield* awaited;
  }
}

async function runIn(running: Running, piece: () => unknown, signal: AbortSignal): Promise<void> {
  const context: Context = { running, outer: livingFrom(contexts.getStore())[0], isOver: false };
  handTo(context, signal);
  try {
    signal.throwIfAborted();
    await contexts.run(context, piece);
  } finally {
    context.isOver = true;
  }
}

/**
 * The work that a call comes from, the innermost first. Work that has ended is dropped, so that
 * none is kept in memory.
 */
function livingFrom(context: Context | undefined): readonly Context[] {
  const living: Context[] = [];
  for (let at = context; at !== undefined; at = at.outer) {
    while (at.outer?.isOver === true) at.outer = at.outer.outer;
    if (!at.isOver) living.push(at);
  }
  return living;
}

function noteHarmless(running: Running): void {
  running.isHarmless = true;
  running.harmless.resolve();
}

/** Whether a recipe's end waits, by work that closes others, for the end of one of these. */
function reaches(from: OwnWork, targets: ReadonlySet<OwnWork>): boolean {
  const seen = new Set([from]);
  for (const recipe of seen) {
    for (const awaited of recipe.awaited()) {
      if (targets.has(awaited)) return true;
      seen.add(awaited);
    }
  }
  return false;
}
