import { expect, test } from "vitest";
import { type Contending, type Queue, waitGraph } from "./wait-graph.ts";

/** `A` holds or waits exclusively, `a` shares; the first ones hold. */
function queue(path: string, holding: string, waiting: string): Queue {
  const of =
    (state: Contending["state"]) =>
    (letter: string): Contending => ({
      owner: letter === "?" ? null : `0x${letter.toLowerCase()}`,
      state,
      kind: letter === letter.toUpperCase() ? "exclusive" : "shared",
    });
  return { path, contenders: [...[...holding].map(of("holds")), ...[...waiting].map(of("waits"))] };
}

const edges = (...queues: readonly Queue[]): readonly string[] =>
  waitGraph(queues).waits.map(({ from, to, path }) => `${from} ${to} ${path}`);
const cycles = (...queues: readonly Queue[]): readonly (readonly string[])[] =>
  waitGraph(queues).cycles.map(({ waits }) => waits.map(({ from, to, path }) => `${from} ${to} ${path}`));

test("each contender of a lock waits for the one before it", () => {
  expect(edges(queue("/l", "A", "BC"))).toEqual(["0xb 0xa /l", "0xc 0xb /l"]);
});

test("readers wait for the last writer, and a writer for the readers behind it", () => {
  expect(edges(queue("/rw", "ab", "Cde"))).toEqual(["0xc 0xa /rw", "0xc 0xb /rw", "0xd 0xc /rw", "0xe 0xc /rw"]);
  expect(edges(queue("/rw", "A", "bcD"))).toEqual(["0xb 0xa /rw", "0xc 0xa /rw", "0xd 0xb /rw", "0xd 0xc /rw"]);
});

test("a session that stands twice in one queue does not wait for itself, and nodes without a session wait for none", () => {
  expect(edges(queue("/l", "A", "AB?"))).toEqual(["0xb 0xa /l"]);
});

test("sessions that wait for each other are a cycle, with the locks", () => {
  expect(cycles(queue("/1", "A", "B"), queue("/2", "B", "A"))).toEqual([["0xa 0xb /2", "0xb 0xa /1"]]);
  const three = [queue("/1", "A", "B"), queue("/2", "B", "C"), queue("/3", "C", "AD")];
  expect(cycles(...three)).toEqual([["0xa 0xc /3", "0xc 0xb /2", "0xb 0xa /1"]]);
});

test("a cycle behind a waiting session is found, and two cycles are two", () => {
  const one = [queue("/1", "B", "AC"), queue("/2", "C", "B")];
  // C waits for A, which waits for B, which waits for C.
  expect(cycles(...one)).toEqual([["0xa 0xb /1", "0xb 0xc /2", "0xc 0xa /1"]]);
  const two = [queue("/1", "A", "B"), queue("/2", "B", "A"), queue("/3", "C", "D"), queue("/4", "D", "C")];
  expect(cycles(...two)).toHaveLength(2);
});

test("a queue without a circle has none, and long ones are cut", () => {
  expect(cycles(queue("/1", "A", "BCD"), queue("/2", "B", "CD"))).toEqual([]);
  const contenders = Array.from(
    { length: 1_500 },
    (_, i): Contending => ({
      owner: `0x${i.toString(16)}`,
      state: i === 0 ? "holds" : "waits",
      kind: "exclusive",
    }),
  );
  const { waits, isCut } = waitGraph([{ path: "/l", contenders }]);
  expect([waits.length, isCut]).toEqual([1_000, true]);
});
