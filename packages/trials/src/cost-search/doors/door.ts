import type { Random } from "@zooid/conformance/internal/random";

/** A value of a shape: one of some words, or a size. */
export type Field = { readonly words: readonly string[] } | { readonly sizes: readonly number[] };

/** The parts of a request, by the names of a door's fields. */
export type DoorShape = Readonly<Record<string, string | number>>;

export interface Sent {
  readonly bytes: number;
  /**
   * How long it held the thread that takes it in; undefined where the measured server counts that.
   */
  readonly heldMs?: number;
}

/** A way into a process: what can be sent there, and what was found to be dear. */
export interface Door extends AsyncDisposable {
  readonly name: string;
  readonly fields: Readonly<Record<string, Field>>;
  /** Requests that were dear, or are the dearest of their kind: every search begins with these. */
  readonly seeds: readonly DoorShape[];
  /** The longest that anything may hold the loop. */
  readonly limitMs: number;
  /** Sends it, and waits until it is done with. */
  send(shape: DoorShape): Promise<Sent>;
}

export function randomOf(fields: Door["fields"], random: Random): DoorShape {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, drawn(field, random)]));
}

/** A shape with one field changed: a word, or a size by a factor. */
export function changedOf(fields: Door["fields"], shape: DoorShape, random: Random): DoorShape {
  const name = random.pick(Object.keys(fields));
  const field = fields[name];
  if (field === undefined) return shape;
  const before = shape[name];
  if (typeof before !== "number" || !("sizes" in field) || random.chance(0.3)) {
    return { ...shape, [name]: drawn(field, random) };
  }
  const most = Math.max(...field.sizes);
  return { ...shape, [name]: Math.min(most, Math.max(0, Math.round(before * random.pick([0.5, 0.8, 1.25, 2, 4])))) };
}

export function textOf(shape: DoorShape): string {
  return Object.entries(shape)
    .filter(([, value]) => value !== 0 && value !== "")
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
}

export function wordOf(shape: DoorShape, name: string): string {
  return String(shape[name] ?? "");
}

export function sizeOf(shape: DoorShape, name: string): number {
  return Number(shape[name] ?? 0);
}

function drawn(field: Field, random: Random): string | number {
  return "words" in field ? random.pick(field.words) : random.pick(field.sizes);
}
