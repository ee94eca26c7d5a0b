import { parseRegexp, type RegexpNode } from "./regexp-syntax.ts";

/**
 * Whether the time of a regular expression can grow faster than its input: JavaScript's matcher
 * tries all ways to read a text before it fails, so the time is linear only if their number is
 * bounded.
 *
 * The expression becomes an automaton whose states are its characters (Glushkov). There are too
 * many ways if
 *
 * ```
 *   p ──w──▶ p   in two ways               nested quantifiers: the number doubles with each w (EDA)
 *   p ──w──▶ p ──w──▶ q ──w──▶ q           adjacent quantifiers over overlapping classes: it grows by each w (IDA)
 * ```
 *
 * for any text w. An expression that may begin anywhere has a first state that reads anything, so
 * `[a-z]+=` is found as `.*[a-z]+=` is. A state at which the expression has matched, or will for
 * certain, ends the search: ways that lead there cannot be many. Source: Weber and Seidl, "On the
 * degree of ambiguity of finite automata", 1991, theorems 3.1 and 4.1.
 */

/** Repetitions that are counted up to here are taken for bounded. */
const COUNT_MAX = 128;

/** The fault of a pattern; undefined if its time is linear. */
export function regexpFault(pattern: string, flags: string): string | undefined {
  const { node, sampleCount } = parseRegexp(pattern, flags);
  const automaton = new Automaton(sampleCount);
  const anything = new Set(Array.from({ length: sampleCount }, (_, i) => i));
  const prefix: RegexpNode = {
    kind: "repeat",
    part: { kind: "characters", samples: anything },
    min: 0,
    max: Number.POSITIVE_INFINITY,
  };
  const whole: RegexpNode = flags.includes("y") ? node : { kind: "sequence", parts: [prefix, node] };
  const { last } = automaton.add(whole);
  automaton.end(last);
  return automaton.fault();
}

/** Whether a part can match no character: never, or with what it asserts then. */
type Empty = "no" | Behind;

/**
 * Behind a state: nothing, a `$` (which holds in front of these samples), or something else that
 * may fail.
 */
type Behind = "nothing" | ReadonlySet<number> | "assertion";

interface Part {
  readonly empty: Empty;
  readonly first: ReadonlyMap<number, number>;
  /** The states at its end, and what stands between them and the end. */
  readonly last: ReadonlyMap<number, Behind>;
}

/** States in which several readings of one text are. */
type States = readonly number[];
/** For each of them the states that it may come to; undefined for any. */
type Within = readonly (ReadonlySet<number> | undefined)[];

const NOTHING: Part = { empty: "nothing", first: new Map(), last: new Map() };

class Automaton {
  readonly #samples: ReadonlySet<number>[] = [];
  readonly #sampleCount: number;
  /** How many ways lead from a state to another one without another character. */
  readonly #next: Map<number, number>[] = [];
  readonly #ended = new Set<number>();

  constructor(sampleCount: number) {
    this.#sampleCount = sampleCount;
  }

  add(node: RegexpNode): Part {
    switch (node.kind) {
      case "characters":
        return this.#character(node.samples);
      case "sequence":
        return node.parts.reduce((before: Part, part) => this.#joined(before, this.add(part)), NOTHING);
      case "choice":
        return eitherOf(node.branches.map((branch) => this.add(branch)));
      case "repeat":
        return this.#repeated(node);
      case "assertion": {
        // What an assertion looks at is read from where it stands, and nothing follows it.
        const { first } = node.part === undefined ? NOTHING : this.add(node.part);
        return { empty: "assertion", first, last: new Map() };
      }
      case "end":
        return { empty: node.before, first: new Map(), last: new Map() };
      case "start":
        return { empty: "no", first: new Map(), last: new Map() };
    }
  }

  /** @param last the states at the end of the whole expression */
  end(last: ReadonlyMap<number, Behind>): void {
    for (const [state, behind] of last) {
      if (behind === "nothing" || (behind !== "assertion" && this.#readsUpTo(state, behind))) this.#ended.add(state);
    }
  }

  /**
   * Whether a state reads on until one of these samples or the end of the text stands behind it.
   */
  #readsUpTo(state: number, before: ReadonlySet<number>): boolean {
    const samples = this.#samples[state] ?? new Set();
    return this.#nextOf(state).has(state) && new Set([...samples, ...before]).size === this.#sampleCount;
  }

  fault(): string | undefined {
    const loops = this.#loops();
    for (const loop of loops) {
      if (this.#isTwofold(loop)) return "nested quantifiers: the time doubles with each character";
    }
    for (const from of loops) {
      for (const to of loops) {
        if (from !== to && this.#isCrossed(from, to)) {
          return "adjacent quantifiers over overlapping classes: the time grows with the square of the input";
        }
      }
    }
    return loops.some((loop) => this.#crossesItself(loop))
      ? "a quantifier over parts that overlap: the time grows with the square of the input"
      : undefined;
  }

  #character(samples: ReadonlySet<number>): Part {
    const state = this.#samples.push(samples) - 1;
    this.#next.push(new Map());
    return { empty: "no", first: new Map([[state, 1]]), last: new Map([[state, "nothing"]]) };
  }

  #joined(a: Part, b: Part): Part {
    this.#link(a.last.keys(), b.first);
    const first = new Map(a.first);
    if (a.empty !== "no") addCounts(first, b.first);
    const last = new Map(b.last);
    if (b.empty !== "no") {
      for (const [state, behind] of a.last) last.set(state, bothOf(behind, b.empty));
    }
    return { empty: a.empty === "no" || b.empty === "no" ? "no" : bothOf(a.empty, b.empty), first, last };
  }

  #repeated({ part, min, max }: Extract<RegexpNode, { kind: "repeat" }>): Part {
    if (max === 0) return NOTHING;
    const once = this.add(part);
    if (max > COUNT_MAX) this.#link(once.last.keys(), once.first);
    return min === 0 ? { ...once, empty: "nothing" } : once;
  }

  #link(from: Iterable<number>, to: ReadonlyMap<number, number>): void {
    for (const state of from) addCounts(this.#nextOf(state), to);
  }

  #nextOf(state: number): Map<number, number> {
    return this.#next[state] ?? new Map();
  }

  #successors(state: number): readonly number[] {
    return [...this.#nextOf(state).keys()].filter((next) => !this.#ended.has(next));
  }

  /** Whether there is a character that enters all of these states. */
  #share(states: States): boolean {
    const [first = new Set<number>(), ...rest] = states.map((state) => this.#samples[state] ?? new Set<number>());
    for (const sample of first) {
      if (rest.every((samples) => samples.has(sample))) return true;
    }
    return false;
  }

  /** The sets of states that reach each other. */
  #loops(): readonly (readonly number[])[] {
    const states = this.#samples.map((_, state) => state).filter((state) => !this.#ended.has(state));
    const reached = new Map(states.map((state) => [state, this.#reachedFrom(state)]));
    const loops: number[][] = [];
    const seen = new Set<number>();
    for (const state of states) {
      if (seen.has(state) || reached.get(state)?.has(state) !== true) continue;
      const loop = states.filter((other) => reached.get(state)?.has(other) && reached.get(other)?.has(state));
      for (const member of loop) seen.add(member);
      loops.push(loop);
    }
    return loops;
  }

  #reachedFrom(start: number): ReadonlySet<number> {
    return reachable(start, (state) => this.#successors(state));
  }

  /** Whether a state of the loop comes back to itself by one text in two ways. */
  #isTwofold(loop: readonly number[]): boolean {
    const members = new Set(loop);
    const isDouble = loop.some((state) =>
      [...this.#nextOf(state)].some(([next, ways]) => ways > 1 && members.has(next)),
    );
    if (isDouble) return true;
    const within = [members, members];
    return loop.some((state) => {
      const pairs = [...reachable<States>([state, state], (pair) => this.#together(pair, within))];
      return pairs.some((pair) => pair[0] !== pair[1] && this.#leads(pair, [state, state], within));
    });
  }

  /** Whether one text loops in the one, leads from it to the other, and loops there. */
  #isCrossed(from: readonly number[], to: readonly number[]): boolean {
    const entry = from[0];
    if (entry === undefined || to[0] === undefined || !this.#reachedFrom(entry).has(to[0])) return false;
    const within = [new Set(from), undefined, new Set(to)];
    return from.some((p) => to.some((q) => this.#leads([p, p, q], [p, q, q], within)));
  }

  #crossesItself(loop: readonly number[]): boolean {
    const members = new Set(loop);
    const within = [members, members, members];
    return loop.some((p) => loop.some((q) => p !== q && this.#leads([p, p, q], [p, q, q], within)));
  }

  #leads(start: States, end: States, within: Within): boolean {
    const reached = [...reachable(start, (states) => this.#together(states, within))];
    return reached.some((states) => String(states) === String(end));
  }

  /** Where one character leads these states, each within its set. */
  #together(states: States, within: Within): readonly States[] {
    const nexts = states.map((state, i) => this.#successors(state).filter((next) => within[i]?.has(next) ?? true));
    const all = nexts.reduce<States[]>(
      (begun, some) => begun.flatMap((states) => some.map((next) => [...states, next])),
      [[]],
    );
    return all.filter((states) => this.#share(states));
  }
}

function eitherOf(parts: readonly Part[]): Part {
  const first = new Map<number, number>();
  for (const part of parts) addCounts(first, part.first);
  const empties = parts.map(({ empty }) => empty).filter((empty) => empty !== "no");
  return {
    empty:
      empties.find((empty) => empty === "nothing") ??
      empties.find((empty) => empty !== "assertion") ??
      empties[0] ??
      "no",
    first,
    last: new Map(parts.flatMap(({ last }) => [...last])),
  };
}

function bothOf(a: Behind, b: Behind): Behind {
  if (a === "nothing") return b;
  return b === "nothing" ? a : "assertion";
}

function addCounts(to: Map<number, number>, from: ReadonlyMap<number, number>): void {
  for (const [state, ways] of from) to.set(state, (to.get(state) ?? 0) + ways);
}

/** The states that are reached by one step or more. */
function reachable<T extends number | States>(start: T, step: (at: T) => readonly T[]): ReadonlySet<T> {
  const seen = new Map<string, T>();
  const waiting = [start];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const next of step(at)) {
      if (seen.has(String(next))) continue;
      seen.set(String(next), next);
      waiting.push(next);
    }
  }
  return new Set(seen.values());
}
