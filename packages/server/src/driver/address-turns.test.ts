import { expect, test } from "vitest";
import { AddressTurns } from "./address-turns.ts";
import { TurnOrder } from "./turn-order.ts";

interface Waiting {
  readonly share: string;
  readonly isProxied: boolean;
  readonly name: string;
}

function turnsOf(names: string, order = new TurnOrder({ now: () => 0, proxiesShare: 1 / 4 })): AddressTurns<Waiting> {
  const turns = new AddressTurns<Waiting>(order);
  for (const name of names.split(" ")) turns.add(waiting(name));
  return turns;
}

/** The first letter is the address; each connection of a proxy, `p`, has a share of its own. */
function waiting(name: string): Waiting {
  const isProxied = name.startsWith("p");
  return { share: isProxied ? name : name.charAt(0), isProxied, name };
}

function takenOf(turns: AddressTurns<Waiting>): string {
  let names = "";
  for (let one = turns.take(); one !== undefined; one = turns.take()) names += `${one.name} `;
  return names.trim();
}

test("addresses take turns, however many wait of each", () => {
  const turns = turnsOf("a1 a2 a3 b1 c1 b2");
  expect(turns.count).toBe(6);
  expect(takenOf(turns)).toBe("a1 b1 c1 a2 b2 a3");
  expect([turns.count, turns.take()]).toEqual([0, undefined]);
});

test("an address that comes while others wait has its turn behind them, once", () => {
  const turns = turnsOf(Array.from({ length: 50 }, (_, i) => `a${i}`).join(" "));
  turns.take();
  turns.add(waiting("b"));
  turns.take();
  expect(turns.take()?.name).toBe("b");
  const later = turnsOf("c");
  turns.addAll(later);
  expect([turns.take()?.name, turns.take()?.name, later.count]).toEqual(["a2", "c", 0]);
});

test("an address that owes time waits for the others, and is next where it is alone", () => {
  const order = new TurnOrder({ now: () => 0, proxiesShare: 1 / 4 });
  order.charge("a", 3);
  expect(takenOf(turnsOf("a1 a2 b1 c1 b2", order))).toBe("b1 c1 b2 a1 a2");
});

test("where all owe time, the one that owes least is next", () => {
  const order = new TurnOrder({ now: () => 0, proxiesShare: 1 / 4 });
  order.charge("a", 9);
  order.charge("b", 5);
  expect(takenOf(turnsOf("a1 b1 b2 b3", order))).toBe("b1 b2 b3 a1");
});

test("connections of trusted proxies take turns among themselves, and have a quarter while others wait", () => {
  const proxied = Array.from({ length: 20 }, (_, i) => `p${i}`).join(" ");
  expect(takenOf(turnsOf(`${proxied} a1 b1 a2 b2 a3`))).toMatch(/^a1 b1 a2 p0 b2 a3 p1 p2 /);
});
