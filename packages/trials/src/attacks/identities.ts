import { OpCode } from "@zooid/model";
import { auth, create, multiBody, read } from "@zooid/wire/testing/raw-client";
import { ANYONE, type Attack, again, codesText, createWith, range } from "./attack.ts";
import { Attacker } from "./attacker.ts";

const HELD_BYTES_MAX = 64 * 1024 * 1024;

/** Identities and access lists. */
export const IDENTITY_ATTACKS: readonly Attack[] = [
  {
    name: "long-identities",
    sends: "600 addauth of 1 MB each to a follower, on new connections as often as they are closed",
    target: "ensemble",
    async prepare({ port }) {
      return async () => {
        let closed = 0;
        const user = "u".repeat(1_000_000);
        for (let sent = 0; sent < 600; ) {
          await using attacker = await Attacker.open({ port });
          while (sent < 600 && !attacker.isClosed)
            await attacker.ask(OpCode.AUTH, auth("digest", `${user}${sent++}:p`));
          closed++;
        }
        return `${closed} connections closed`;
      };
    },
  },
  {
    name: "invented-identities",
    sends:
      "creates of 50 KB by 4,500 identities of `digest`, one after the other, of one address, until each is refused",
    settings: () => [`zooid.heldBytesMax=${HELD_BYTES_MAX}`],
    async prepare({ port }) {
      return async () => {
        const localAddress = "127.0.0.2";
        const data = "d".repeat(50_000);
        let created = 0;
        for (let i = 0; i < 4500; ) {
          await using attacker = await Attacker.open({ port, localAddress });
          for (const end = i + 50; i < end && !attacker.isClosed; i++) {
            await attacker.ask(OpCode.AUTH, auth("digest", `user${i}:p`));
            const path = (): string => `/invented-${created}`;
            while ((await attacker.ask(OpCode.CREATE, createWith(path(), ANYONE, data))) === 0) created++;
          }
        }
        const share = (created * data.length) / HELD_BYTES_MAX;
        if (share > 0.82) throw new Error(`one address filled ${(share * 100).toFixed(0)} % of the tree`);
        return `${(share * 100).toFixed(0)} % of the tree filled`;
      };
    },
  },
  {
    name: "many-identities",
    sends: "creates with 1,000 `auth` entries by a client that added 990 identities",
    async prepare({ port }) {
      return async () => {
        await using attacker = await Attacker.open({ port });
        for (let i = 0; i < 990 && !attacker.isClosed; i++)
          await attacker.ask(OpCode.AUTH, auth("digest", `user${i}:p`));
        await using creator = await Attacker.open({ port });
        for (let i = 0; i < 60; i++) await creator.ask(OpCode.AUTH, auth("digest", `user${i}:p`));
        const acl = range(1000, () => ({ permissions: 31, scheme: "auth", id: "" }));
        await creator.askAll(range(500, (i) => creator.frame(OpCode.CREATE, createWith(`/a-${i}`, acl))));
        return `${codesText(creator.codes)}; 990 identities: ${attacker.isClosed ? "closed" : "taken"}`;
      };
    },
  },
  {
    name: "long-access-lists",
    sends: "multiReads of 3,000 parts below an access list of 1,000 ip ranges",
    async setUp(owner) {
      const ranges = range(1000, (i) => ({ permissions: 1, scheme: "ip", id: `10.${i >> 8}.${i & 255}.0/24` }));
      await owner.ask(OpCode.CREATE, createWith("/ranges", ranges));
    },
    async attack(attacker) {
      const parts = range(3000, () => [OpCode.GET_DATA, read("/ranges")] as const);
      await attacker.askAll(range(30, () => attacker.frame(OpCode.MULTI_READ, multiBody(...parts))));
    },
  },
  {
    name: "access-lists-of-lies",
    sends: "creates whose access lists hold 38,000 entries, or say that they hold 2^31 - 1",
    async attack(attacker) {
      const acl = range(38_000, (i) => ({ permissions: 1, scheme: "ip", id: `10.0.${i >> 8}.${i & 255}` }));
      await attacker.askAll(range(100, (i) => attacker.frame(OpCode.CREATE, createWith(`/l-${i}`, acl))));
      await attacker.askAll(
        range(100, () =>
          attacker.frame(OpCode.SET_ACL, (writer) => {
            writer.text("/zookeeper");
            writer.int(2 ** 31 - 1);
            for (let n = 0; n < 1000; n++) writer.int(n);
          }),
        ),
      );
    },
  },
  {
    name: "guessed-passwords",
    sends: "guesses the super user's password on 50 connections",
    settings: () => ["DigestAuthenticationProvider.superDigest=super:D/InIHSb7yEEbrWz8b9l71RjZJU="],
    async prepare({ port }) {
      return async () => {
        let guesses = 0;
        await again(50, async () => {
          await using attacker = await Attacker.open({ port, localAddress: "127.0.0.2" });
          await attacker.ask(OpCode.AUTH, auth("digest", `super:${guesses++}`));
        });
        return `${guesses} guesses in 5 s`;
      };
    },
  },
  {
    name: "held-bytes",
    sends: "fills the tree with data until it is refused, and goes on",
    settings: () => ["zooid.heldBytesMax=268435456"],
    async attack(attacker) {
      const data = "d".repeat(1_000_000);
      const frames = function* (): Generator<Buffer> {
        for (let i = 0; i < 400; i++) yield attacker.frame(OpCode.CREATE, createWith(`/held-${i}`, ANYONE, data));
      };
      await attacker.flood(frames());
      await attacker.untilAnswers(400);
    },
  },
  {
    name: "paths-of-a-megabyte",
    sends: "creates and reads of paths with 450,000 components",
    async attack(attacker) {
      const path = "/a".repeat(450_000);
      await attacker.askAll(
        range(100, (i) =>
          i % 2 === 0 ? attacker.frame(OpCode.CREATE, create(path)) : attacker.frame(OpCode.EXISTS, read(path, true)),
        ),
      );
    },
  },
];
