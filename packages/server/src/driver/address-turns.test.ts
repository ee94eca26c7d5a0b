import { expect, test } from "vitest";
import { AddressTurns } from "./address-turns.ts";

function takenOf(turns: AddressTurns<{ share: string; name: string }>): string {
  let names = "";
  for (let one = turns.take(); one !== undefined; one = turns.take()) names += `${one.name} `;
  return names.trim();
}

test("addresses take turns, however many wait of each", () => {
  const turns = new AddressTurns<{ share: string; name: string }>();
  for (const name of ["a1", "a2", "a3", "b1", "c1", "b2"]) turns.add({ share: name.charAt(0), name });
  expect(turns.count).toBe(6);
  expect(takenOf(turns)).toBe("a1 b1 c1 a2 b2 a3");
  expect([turns.count, turns.take()]).toEqual([0, undefined]);
});

test("an address that comes while others wait has its turn behind them, once", () => {
  const turns = new AddressTurns<{ share: string; name: string }>();
  for (let i = 0; i < 50; i++) turns.add({ share: "a", name: `a${i}` });
  turns.take();
  turns.add({ share: "b", name: "b" });
  turns.take();
  expect(turns.take()?.name).toBe("b");
  const later = new AddressTurns<{ share: string; name: string }>();
  later.add({ share: "c", name: "c" });
  turns.addAll(later);
  expect([turns.take()?.name, turns.take()?.name, later.count]).toEqual(["a2", "c", 0]);
});
