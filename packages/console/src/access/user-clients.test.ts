import { expect, test } from "vitest";
import { digestUser } from "./user.ts";
import { TooManyUsersError, UserClients } from "./user-clients.ts";

// Without a server: the tests look at the clients that are kept.

function clientsOf(countMax: number): { clients: UserClients; clock: { nowMs: number } } {
  const clock = { nowMs: 0 };
  const clients = new UserClients({ hosts: "127.0.0.1:1", client: {}, countMax, nowMs: () => clock.nowMs });
  return { clients, clock };
}

const user = (name: string): ReturnType<typeof digestUser> => digestUser({ user: name, password: "x" });
const nothing = async (): Promise<void> => {};

test("invented users shut no other user out: a client that is not in use gives way", async () => {
  const { clients, clock } = clientsOf(4);
  await using _ = clients;
  for (let i = 0; i < 100; i++) {
    clock.nowMs++;
    await clients.use(user(`invented-${i}`), "10.0.0.1", nothing);
  }
  expect(clients.count).toBe(2);
  for (const name of ["alice", "bob"]) await clients.use(user(name), "10.0.0.2", nothing);
  expect(clients.count).toBe(4);
  await clients.use(user("carol"), "10.0.0.3", nothing);
  expect(clients.count).toBe(4);
});

test("two users of one name with different passwords have no client in common", async () => {
  const { clients } = clientsOf(4);
  await using _ = clients;
  const seen: unknown[] = [];
  for (const password of ["right", "wrong", "right"]) {
    const alice = digestUser({ user: "alice", password });
    await clients.use(alice, "10.0.0.1", async (client) => void seen.push(client));
  }
  expect([seen[0] === seen[1], seen[0] === seen[2], clients.count]).toEqual([false, true, 2]);
});

test("clients that are in use stay, and an address has half of the places", async () => {
  const { clients } = clientsOf(4);
  await using _ = clients;
  const { promise, resolve } = Promise.withResolvers<void>();
  const used = ["a", "b"].map((name) => clients.use(user(name), "10.0.0.1", () => promise));
  await expect(clients.use(user("c"), "10.0.0.1", nothing)).rejects.toThrow(TooManyUsersError);
  await clients.use(user("d"), "10.0.0.2", nothing);
  resolve();
  await Promise.all(used);
  await clients.use(user("c"), "10.0.0.1", nothing);
});

test("a client that was closed or refused gives way to another one of its user, also while requests use it", async () => {
  const { clients, clock } = clientsOf(4);
  await using _ = clients;
  const seen: unknown[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const alice = (work: () => Promise<void>): Promise<void> =>
    clients.use(user("alice"), "10.0.0.1", async (client) => {
      seen.push(client);
      await work();
    });
  const long = clients.use(user("alice"), "10.0.0.1", async (client) => {
    seen.push(client);
    await client.close();
    await promise;
  });
  await clients.use(user("bob"), "10.0.0.1", async (client) => await client.close());
  await alice(nothing);
  await alice(nothing);
  expect([seen[0] === seen[1], seen[1] === seen[2], clients.count]).toEqual([false, true, 2]);
  const longer = alice(() => promise);
  clock.nowMs = 60_000;
  clients.closeIdle();
  expect(clients.count).toBe(1);
  resolve();
  await Promise.all([long, longer]);
  clock.nowMs = 119_999;
  clients.closeIdle();
  expect(clients.count).toBe(1);
  clock.nowMs = 120_000;
  clients.closeIdle();
  expect(clients.count).toBe(0);
});
