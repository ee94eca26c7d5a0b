import { expect, test } from "vitest";
import {
  type Bounds,
  type Change,
  explanations,
  FolderState,
  type FoundFolder,
  type Step,
  stateAfter,
} from "./owned-folder.ts";

const stateOf = (steps: readonly Step[]): FolderState => stateAfter({ base: new FolderState(), steps }, steps.length);
const lengths = (steps: readonly Step[], nodes: FoundFolder, bounds: Bounds): readonly number[] => [
  ...explanations({ base: new FolderState(), steps }, nodes, bounds).keys(),
];
const session = { id: 7n, password: Buffer.alloc(16) };
const step = (change: Change): Step =>
  change.kind === "open" ? { change, sentAt: 0n, session } : { change, sentAt: 0n };
const create = (name: string, value: string, ephemeral = false): Step =>
  step({ kind: "create", name, value, ephemeral });
const OPEN = step({ kind: "open" });
const FOLDER = step({ kind: "folder" });

function found(values: Record<string, string>, createdCount = Object.keys(values).length): FoundFolder {
  const nodes = new Map(Object.entries(values).map(([name, value]) => [name, { value, owner: 0n }] as const));
  return { nodes, createdCount };
}

test("what was answered must be found", () => {
  const steps = [OPEN, FOLDER, create("a", "1"), create("b", "2")];
  expect(lengths(steps, found({ a: "1" }), { answered: 4, sent: 4 })).toEqual([]);
  expect(lengths(steps, found({ a: "1" }), { answered: 3, sent: 4 })).toEqual([3]);
});

test("a later request is not found without the earlier ones", () => {
  const steps = [OPEN, FOLDER, create("a", "1"), create("b", "2")];
  expect(lengths(steps, found({ b: "2" }), { answered: 2, sent: 4 })).toEqual([]);
});

test("a transaction is found whole or is absent", () => {
  const parts: readonly Change[] = [
    { kind: "create", name: "a", value: "1", ephemeral: false },
    { kind: "create", name: "b", value: "2", ephemeral: false },
  ];
  const steps = [OPEN, FOLDER, step({ kind: "multi", parts })];
  expect(lengths(steps, found({ a: "1" }), { answered: 2, sent: 3 })).toEqual([]);
  expect(lengths(steps, found({ a: "1", b: "2" }), { answered: 2, sent: 3 })).toEqual([3]);
});

test("the end of a session takes its ephemerals and nothing else", () => {
  const steps = [OPEN, FOLDER, create("e", "1", true), create("p", "2"), step({ kind: "close" })];
  expect([...stateOf(steps.slice(0, 4)).nodes.keys()]).toEqual(["e", "p"]);
  expect([...stateOf(steps).nodes.keys()]).toEqual(["p"]);
});

test("sequence numbers count every child ever created", () => {
  const steps = [FOLDER, create("a", "1"), step({ kind: "delete", name: "a" })];
  const append = step({ kind: "append", prefix: "q-", value: "2", ephemeral: false });
  expect([...stateOf([...steps, append]).nodes.keys()]).toEqual(["q-0000000001"]);
});

test("a node that was created and deleted unseen is distinguished from one that never existed", () => {
  const steps = [FOLDER, create("a", "1"), step({ kind: "delete", name: "a" })];
  expect(lengths(steps, found({}, 0), { answered: 1, sent: 3 })).toEqual([1]);
  expect(lengths(steps, found({}, 1), { answered: 1, sent: 3 })).toEqual([3]);
});
