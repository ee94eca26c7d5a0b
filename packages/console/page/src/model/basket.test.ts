import { expect, test } from "vitest";
import { afterOf, Basket, DRAFTS_MAX, type Draft, multiOp } from "./basket.ts";

const set = (path: string, text: string, version = 0): Draft => ({
  op: "set",
  path,
  data: { text },
  version,
  before: "old",
});
const order = (basket: Basket): readonly string[] => basket.drafts.map(({ op, path }) => `${op} ${path}`);

test("writes keep their order, and are moved", () => {
  const basket = new Basket();
  basket.add(set("/a", "1"));
  basket.add({ op: "check", path: "/b", version: 3, before: "" });
  basket.add({ op: "delete", path: "/c", version: 1, before: "x" });
  const [first, , last] = basket.drafts;
  basket.move(last?.id ?? 0, -1);
  basket.move(first?.id ?? 0, -1);
  expect(order(basket)).toEqual(["set /a", "delete /c", "check /b"]);
  basket.remove(first?.id ?? 0);
  expect(order(basket)).toEqual(["delete /c", "check /b"]);
});

test("a later write of one kind replaces the earlier one, and sequential nodes do not", () => {
  const basket = new Basket();
  basket.add(set("/a", "1"));
  basket.add(set("/a", "2"));
  const create: Draft = { op: "create", path: "/q/n-", mode: "persistent-sequential", data: { text: "" }, before: "" };
  basket.add(create);
  basket.add(create);
  expect(order(basket)).toEqual(["set /a", "create /q/n-", "create /q/n-"]);
  expect(basket.drafts[0]).toMatchObject({ data: { text: "2" } });
});

test("a write is made over another version", () => {
  const basket = new Basket();
  basket.add(set("/a", "1"));
  basket.rebase(basket.drafts[0]?.id ?? 0, { version: 7, before: "theirs" });
  expect(basket.drafts.map(multiOp)).toEqual([{ op: "set", path: "/a", data: { text: "1" }, version: 7 }]);
  expect(basket.drafts[0]?.before).toBe("theirs");
});

test("listeners hear of each change, and no more than the API's limit is kept", () => {
  const basket = new Basket();
  let count = 0;
  const end = basket.listen(() => count++);
  for (let i = 0; i < DRAFTS_MAX; i++) basket.add(set(`/${i}`, ""));
  expect(() => basket.add(set("/more", ""))).toThrow(RangeError);
  basket.clear();
  end();
  basket.add(set("/a", ""));
  expect([count, basket.drafts.length]).toEqual([DRAFTS_MAX + 1, 1]);
});

test.each([
  [set("/a", "new"), "new"],
  [{ op: "set", path: "/a", data: { base64: "/w==" }, version: 1, before: "" }, "/w=="],
  [{ op: "delete", path: "/a", version: 1, before: "old" }, ""],
  [{ op: "check", path: "/a", version: 1, before: "old" }, "old"],
] satisfies readonly (readonly [Draft, string])[])("what %o leaves", (draft, text) => {
  expect(afterOf(draft)).toBe(text);
});
