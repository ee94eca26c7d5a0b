import { expect, test } from "vitest";
import { LeaderSearch } from "./leader-search.ts";

const ADDRESSES = ["a", "b", "c"].map((host) => ({ host, port: 2888 }));

function newSearch(): LeaderSearch {
  return new LeaderSearch(ADDRESSES, () => 0.999_999);
}

function attempt(search: LeaderSearch): string {
  const { address, afterMs } = search.next();
  return `${address.host} ${Math.round(afterMs)}`;
}

test("addresses are tried in turn at once, and each round without a leader makes the next one wait longer", () => {
  const search = newSearch();
  const attempts = Array.from({ length: 10 }, () => {
    const text = attempt(search);
    search.fail(false);
    return text;
  });
  expect(attempts).toEqual(["a 0", "b 0", "c 0", "a 50", "b 0", "c 0", "a 100", "b 0", "c 0", "a 200"]);
});

test("a leader whose link lasted is tried again at once, and first", () => {
  const search = newSearch();
  search.fail(false);
  search.lose(60_000);
  expect(attempt(search)).toBe("b 0");
});

test("a link that ends soon again and again is begun later and later", () => {
  const search = newSearch();
  const waits = Array.from({ length: 9 }, () => {
    search.lose(10);
    return attempt(search);
  });
  expect(waits).toEqual([50, 100, 200, 400, 800, 1600, 3200, 5000, 5000].map((ms) => `a ${ms}`));
});

test("an address that stays silent gets twice the time after four rounds, and the others do not", () => {
  const search = newSearch();
  const limits = Array.from({ length: 15 }, () => {
    const { address, reachMs } = search.next();
    search.fail(address.host === "b");
    return `${address.host} ${reachMs}`;
  });
  expect(limits.slice(0, 3)).toEqual(["a 500", "b 500", "c 500"]);
  expect(limits.slice(-3)).toEqual(["a 500", "b 1000", "c 500"]);
});

test.each(["refuses", "leads"])("an address that %s after silent attempts has a short time again", (answer) => {
  const search = new LeaderSearch(ADDRESSES.slice(0, 1), () => 0);
  for (let i = 0; i < 4; i++) search.fail(true);
  expect(search.next().reachMs).toBe(1000);
  if (answer === "leads") search.lose(60_000);
  else search.fail(false);
  expect(search.next().reachMs).toBe(500);
});
