import { collidingNames } from "@zooid/data-tree/testing/collisions";
import { OpCode } from "@zooid/model";
import { create, multiBody, read } from "@zooid/wire/testing/raw-client";
import { type Attack, chunks, codesText, createWith } from "./attack.ts";
import { Attacker } from "./attacker.ts";

const COUNT = 8192;

/** Names that MurmurHash3 gives one hash, whatever its seed. */
export const NAME_ATTACKS: readonly Attack[] = [
  {
    name: "colliding-names",
    sends: `creates ${COUNT} nodes whose names have one hash`,
    async prepare({ port }) {
      const names = collidingNames(COUNT);
      return async () => {
        await using attacker = await Attacker.open({ port });
        await attacker.askAll(names.map((name) => attacker.frame(OpCode.CREATE, create(`/${name}`))));
        await attacker.askAll(names.map((name) => attacker.frame(OpCode.GET_DATA, read(`/${name}`))));
        return codesText(attacker.codes);
      };
    },
  },
  {
    name: "colliding-names-in-multis",
    sends: `the same in multis of 2048, each deleted again`,
    async prepare({ port }) {
      const names = collidingNames(COUNT);
      return async () => {
        await using attacker = await Attacker.open({ port });
        const parts = names.map((name) => [OpCode.CREATE, create(`/${name}`)] as const);
        const gone = names.map((name) => [OpCode.DELETE, read(`/${name}`)] as const);
        for (const group of [...chunks(parts, 2048), ...chunks(gone, 2048)])
          await attacker.ask(OpCode.MULTI, multiBody(...group));
        return codesText(attacker.codes);
      };
    },
  },
  {
    name: "colliding-watches",
    sends: `watches ${COUNT} absent paths whose names have one hash, without any permission`,
    target: "ensemble",
    async prepare({ port }) {
      const names = collidingNames(COUNT);
      return async () => {
        await using attacker = await Attacker.open({ port });
        for (const prefix of ["/", "/zookeeper/"])
          await attacker.askAll(names.map((name) => attacker.frame(OpCode.EXISTS, read(prefix + name, true))));
        return codesText(attacker.codes);
      };
    },
  },
  {
    name: "colliding-acls",
    sends: `creates ${COUNT} nodes, each with an access list of its own, whose ids have one hash`,
    async prepare({ port }) {
      const names = collidingNames(COUNT);
      return async () => {
        await using attacker = await Attacker.open({ port });
        const acl = (id: string) => [{ permissions: 31, scheme: "digest", id: `u:${id}` }];
        await attacker.askAll(
          names.map((name, i) => attacker.frame(OpCode.CREATE, createWith(`/acl-${i}`, acl(name)))),
        );
        return codesText(attacker.codes);
      };
    },
  },
];
