import fc from "fast-check";

/** One step of a history. Its numbers choose among what is there then. */
export interface Act<Kind extends string> {
  readonly kind: Kind;
  readonly a: number;
  readonly b: number;
}

/** Kinds of acts, each with its weight. */
export type ActWeights<Kind extends string> = readonly (readonly [kind: Kind, weight: number])[];

export function actsArbitrary<Kind extends string>(
  weights: ActWeights<Kind>,
  options: fc.ArrayConstraints,
): fc.Arbitrary<readonly Act<Kind>[]> {
  const number = fc.nat(0xffff);
  const kind = fc.oneof(...weights.map(([value, weight]) => ({ arbitrary: fc.constant(value), weight })));
  return fc.array(fc.record({ kind, a: number, b: number }), options);
}
