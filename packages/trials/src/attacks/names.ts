import { collidingNames } from "@zooid/data-tree/testing/collisions";
import { OpCode } from "@zooid/model";
import { create, multiBody, read } from "@zooid/wire/testing/raw-client";
import { type Attack, chunks, createWith } from "./attack.ts";
import type { Attacker } from "./attacker.ts";

const COUNT = 8192;

/** An attack with names that MurmurHash3 gives one hash, whatever its seed. */
function colliding(
  facts: Pick<Attack, "name" | "sends" | "target">,
  attack: (attacker: Attacker, names: readonly string[]) => Promise<void>,
): Attack {
  let names: readonly string[] = [];
  const setUp = async (): Promise<void> => {
    names = collidingNames(COUNT);
  };
  return { ...facts, setUp, attack: (attacker) => attack(attacker, names) };
}

export const NAME_ATTACKS: readonly Attack[] = [
  colliding(
    { name: "colliding-names", sends: `creates ${COUNT} nodes whose names have one hash` },
    async (attacker, names) => {
      await attacker.askAll(names.map((name) => attacker.frame(OpCode.CREATE, create(`/${name}`))));
      await attacker.askAll(names.map((name) => attacker.frame(OpCode.GET_DATA, read(`/${name}`))));
    },
  ),
  colliding(
    { name: "colliding-names-in-multis", sends: `the same in multis of 2048, each deleted again` },
    async (attacker, names) => {
      const parts = names.map((name) => [OpCode.CREATE, create(`/${name}`)] as const);
      const gone = names.map((name) => [OpCode.DELETE, read(`/${name}`)] as const);
      for (const group of [...chunks(parts, 2048), ...chunks(gone, 2048)])
        await attacker.ask(OpCode.MULTI, multiBody(...group));
    },
  ),
  colliding(
    {
      name: "colliding-watches",
      sends: `watches ${COUNT} absent paths whose names have one hash, without any permission`,
      target: "ensemble",
    },
    async (attacker, names) => {
      for (const prefix of ["/", "/zookeeper/"])
        await attacker.askAll(names.map((name) => attacker.frame(OpCode.EXISTS, read(prefix + name, true))));
    },
  ),
  colliding(
    {
      name: "colliding-acls",
      sends: `creates ${COUNT} nodes, each with an access list of its own, whose ids have one hash`,
    },
    async (attacker, names) => {
      const acl = (id: string) => [{ permissions: 31, scheme: "digest", id: `u:${id}` }];
      await attacker.askAll(names.map((name, i) => attacker.frame(OpCode.CREATE, createWith(`/acl-${i}`, acl(name)))));
    },
  ),
];
