import type { Stat } from "@zooid/model";
import { from } from "rxjs";
import { expect, test } from "vitest";
import type { NodeData } from "../calls/operation.ts";
import { json } from "../operations/codec.ts";
import { type DecodeOptions, decodeNodes } from "./observed-node.ts";

/**
 * The outcome of these payloads for the observer of a node; null for a node that does not exist.
 */
function outcomeOf(payloads: readonly (string | null)[], options: DecodeOptions<unknown>): readonly unknown[] {
  const outcome: unknown[] = [];
  const nodes = payloads.map((text) => ({
    value: text === null ? null : ({ data: Buffer.from(text), stat: { mzxid: 5 } as Stat } as NodeData),
    isFresh: () => true,
  }));
  from(nodes)
    .pipe(decodeNodes("/a", options, (error) => outcome.push(`left out: ${error.code} ${error.path}`)))
    .subscribe({
      next: (node) => outcome.push(node.exists ? node.value : "none"),
      error: (error: unknown) => outcome.push(`failed: ${error instanceof Error ? error.message : error}`),
      complete: () => outcome.push("complete"),
    });
  return outcome;
}

const codec = json();
const replace = { codec, onDecodeError: () => "replacement" };
const refuse = {
  codec,
  onDecodeError: () => {
    throw new Error("no");
  },
};
const LEFT_OUT = "left out: UNDECODABLE /a";

test.each<
  readonly [what: string, payloads: readonly (string | null)[], options: DecodeOptions<unknown>, outcome: unknown[]]
>([
  ["is decoded", ["1", "2"], { codec }, [1, 2, "complete"]],
  ["that the codec refuses is left out, and reported", ["1", "{", "2"], { codec }, [1, LEFT_OUT, 2, "complete"]],
  ["that is refused twice is reported twice", ["{", "["], { codec }, [LEFT_OUT, LEFT_OUT, "complete"]],
  ["that is refused has a replacement", ["{", "2"], replace, ["replacement", 2, "complete"]],
  ["whose replacement fails fails the stream", ["1", "{", "2"], refuse, [1, "failed: no"]],
  ["of a node that is gone is none", ["1", null, "2"], { codec }, [1, "none", 2, "complete"]],
  ["that is the same again is a change", ["1", "1"], { codec }, [1, 1, "complete"]],
  [
    "that is the same again is none, where contents are asked for",
    ["1", "1", null, null, "1", "{", "{", "2"],
    { codec, distinct: "content" },
    [1, "none", 1, LEFT_OUT, 2, "complete"],
  ],
])("a payload %s", (_, payloads, options, outcome) => {
  expect(outcomeOf(payloads, options)).toEqual(outcome);
});
