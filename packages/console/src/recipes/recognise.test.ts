import { expect, test } from "vitest";
import { type Candidate, recognise } from "./recognise.ts";

const G = (n: number): string => `0000000${n}-1111-2222-3333-444444444444`;
const P = (n: number): string => G(n).replaceAll("-", "");
const seq = (n: number): string => String(n).padStart(10, "0");

function children(names: readonly string[], more: Partial<Candidate> = {}): readonly Candidate[] {
  return names.map((name) => ({ name, isEphemeral: true, hasChildren: false, text: null, ...more }));
}

test.each([
  [
    "Curator's lock",
    [`_c_${G(1)}-lock-${seq(7)}`, `_c_${G(2)}-lock-${seq(5)}`],
    "lock",
    "Curator",
    ["holds 5", "waits 7"],
  ],
  ["kazoo's lock", [`${P(1)}__lock__${seq(1)}`, `${P(2)}__lock__${seq(0)}`], "lock", "kazoo", ["holds 0", "waits 1"]],
  [
    "Curator's readers before a writer",
    [
      `_c_${G(1)}-__READ__${seq(1)}`,
      `_c_${G(2)}-__READ__${seq(2)}`,
      `_c_${G(3)}-__WRIT__${seq(3)}`,
      `_c_${G(4)}-__READ__${seq(4)}`,
    ],
    ...(["read-write lock", "Curator", ["holds 1", "holds 2", "waits 3", "waits 4"]] as const),
  ],
  [
    "kazoo's writer before a reader",
    [`${P(1)}__lock__${seq(0)}`, `${P(2)}__rlock__${seq(1)}`],
    ...(["read-write lock", "kazoo", ["holds 0", "waits 1"]] as const),
  ],
  [
    "a leader latch",
    [`_c_${G(1)}-latch-${seq(3)}`, `_c_${G(2)}-latch-${seq(4)}`],
    "election",
    "Curator",
    ["holds 3", "waits 4"],
  ],
  ["a semaphore", [`_c_${G(1)}-lease-${seq(3)}`], "semaphore", "Curator", ["holds 3"]],
  ["kazoo's queue", [`entry-100-${seq(2)}`, `entry-100-${seq(1)}`], "queue", "kazoo", ["waits 1", "waits 2"]],
  ["members", ["web-1", "web-2"], "group", "", ["holds null", "holds null"]],
])("%s is recognised", (_what, names, kind, library, order) => {
  const found = recognise(children(names));
  expect(found).toMatchObject({ kind, library });
  expect(found?.contenders.map(({ state, sequence }) => `${state} ${sequence}`)).toEqual(order);
});

test("instances of a service are recognised by their data", () => {
  const text = JSON.stringify({ name: "mail", id: "1", address: "10.0.0.1", port: 25 });
  expect(recognise(children(["a", "b"], { text }))?.kind).toBe("services");
});

test.each([
  ["nothing", []],
  ["plain nodes", children(["a", "b"], { isEphemeral: false })],
  ["a name that only looks like a lock's", children(["lock-1", "block-0000000001x"], { isEphemeral: false })],
  ["nodes with children", children(["a"], { hasChildren: true })],
])("%s is no recipe", (_what, given) => {
  expect(recognise(given)).toBeUndefined();
});
