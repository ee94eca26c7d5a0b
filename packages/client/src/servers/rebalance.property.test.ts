import { seededRandom } from "@zooid/model/testing/seeded-random";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { HostAddress } from "./connect-string.ts";
import { serversToMoveTo } from "./rebalance.ts";

const hosts = (names: Iterable<string>): HostAddress[] => [...names].map((host) => ({ host, port: 2181 }));
const listed = (hosts: readonly HostAddress[]): string[] => hosts.map(({ host }) => host);

/** Two non-empty lists of servers, which may overlap. */
const change = fc
  .record({ gone: fc.nat(6), kept: fc.nat(6), added: fc.nat(6) })
  .filter(({ gone, kept, added }) => gone + kept > 0 && kept + added > 0)
  .map(({ gone, kept, added }) => {
    const names = "abcdefghijklmnopqr";
    return { before: hosts(names.slice(0, gone + kept)), after: hosts(names.slice(gone, gone + kept + added)) };
  });

/**
 * Each server's share of the clients after the change, and the share of clients that moved: with
 * equally many evenly spread draws for each server before.
 */
function outcome({
  before,
  after,
}: {
  readonly before: readonly HostAddress[];
  readonly after: readonly HostAddress[];
}) {
  const DRAWS = 200;
  const loads = new Map<string, number>();
  let moved = 0;
  const add = (host: string, part: number): void => void loads.set(host, (loads.get(host) ?? 0) + part);
  for (const current of before) {
    for (let i = 0; i < DRAWS; i++) {
      const part = 1 / (before.length * DRAWS);
      const to = serversToMoveTo({ before, after, current, random: () => (i + 0.5) / DRAWS });
      if (to === undefined) add(current.host, part);
      else moved += part;
      for (const { host } of to ?? []) add(host, part / (to?.length ?? 1));
    }
  }
  return { loads, moved };
}

test("an even distribution stays even, and no more clients move than that requires", () => {
  fc.assert(
    fc.property(change, ({ before, after }) => {
      const { loads, moved } = outcome({ before, after });
      expect([...loads.keys()].sort()).toEqual(listed(after).sort());
      for (const load of loads.values()) expect(Math.abs(load - 1 / after.length)).toBeLessThan(0.005);
      const excess = ({ host }: HostAddress): number =>
        1 / before.length - (listed(after).includes(host) ? 1 / after.length : 0);
      const least = before.reduce((sum, server) => sum + Math.max(0, excess(server)), 0);
      expect(Math.abs(moved - least)).toBeLessThan(0.005);
    }),
    { numRuns: 40 },
  );
});

test("no client moves without a change, in whatever order and however often a server is named", () => {
  const names = fc.uniqueArray(fc.constantFrom(..."abcdef"), { minLength: 1 });
  const reordered = names.chain((before) =>
    fc.tuple(
      fc.constant(before),
      fc.shuffledSubarray(before, { minLength: before.length }),
      fc.shuffledSubarray(before),
    ),
  );
  fc.assert(
    fc.property(reordered, fc.nat(), ([before, after, again], at) => {
      const current = hosts(before)[at % before.length] ?? expect.unreachable();
      const lists = { before: hosts(before), after: hosts([...after, ...again]) };
      expect(serversToMoveTo({ ...lists, current, random: () => 0 })).toBeUndefined();
    }),
  );
});

test("a decision takes one random number at most, depends on nothing else, and leads to another listed server", () => {
  fc.assert(
    fc.property(change, fc.nat(), fc.nat(1000), ({ before, after }, at, seed) => {
      const current = before[at % before.length] ?? expect.unreachable();
      const decide = () => {
        const drawn = seededRandom(seed);
        let count = 0;
        const random = (): number => {
          count++;
          return drawn();
        };
        const to = serversToMoveTo({ before, after, current, random });
        expect(count).toBeLessThan(2);
        return to;
      };
      const to = decide();
      expect(decide()).toEqual(to);
      if (to === undefined) {
        expect(listed(after)).toContain(current.host);
        return;
      }
      expect(to.length).toBeGreaterThan(0);
      for (const host of listed(to)) expect(listed(after)).toContain(host);
      expect(listed(to)).not.toContain(current.host);
    }),
  );
});

test.each<[string, HostAddress]>([
  ["its address", { host: "10.0.0.1", port: 2181, name: "zk1" }],
  ["its resolved name", { host: "10.0.0.9", port: 2181, name: "10.0.0.1" }],
  ["its address alone", { host: "10.0.0.1", port: 2181 }],
])("a server is known by %s", (_, current) => {
  const [before, after] = [hosts(["zk1", "zk2"]), hosts(["10.0.0.1", "10.0.0.2"])];
  expect(serversToMoveTo({ before, after, current, random: () => 0 })).toBeUndefined();
});

test("without servers no client moves, and names are compared regardless of notation", () => {
  const [current = expect.unreachable()] = hosts(["ZK1"]);
  const random = (): number => 0;
  expect(serversToMoveTo({ before: [current], after: [], current, random })).toBeUndefined();
  expect(serversToMoveTo({ before: hosts(["a", "zk1"]), after: hosts(["zk1"]), current, random })).toBeUndefined();
});
