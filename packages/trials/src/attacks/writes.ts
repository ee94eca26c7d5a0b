import { OpCode } from "@zooid/model";
import { create, multiBody, setData } from "@zooid/wire/testing/raw-client";
import { type Attack, codesText, range } from "./attack.ts";
import { Attacker } from "./attacker.ts";

const PART_COUNT = 19_000;
/** Parts of the multis at a server that allows no more. */
const FEW_PARTS = 2000;
const MULTI_COUNT = 20;

/**
 * Pipelined multis of as many parts as one may have, from some addresses with some connections
 * each.
 */
function pipelinedMultis(name: string, addressCount: number, connectionCount: number, partCount = PART_COUNT): Attack {
  const from = `${addressCount} ${addressCount === 1 ? "address" : "addresses"} with ${connectionCount} ${connectionCount === 1 ? "connection" : "connections"} each`;
  return {
    name,
    sends: `${MULTI_COUNT} pipelined multis of ${partCount} sets in all, from ${from}`,
    async prepare({ port }) {
      const attackers = await Promise.all(
        range(addressCount * connectionCount, (i) =>
          Attacker.open({ port, localAddress: `127.4.0.${1 + Math.floor(i / connectionCount)}` }),
        ),
      );
      for (const [i, attacker] of attackers.entries()) await attacker.ask(OpCode.CREATE, create(`/n${i}`));
      const multis = attackers.map((attacker, i) => {
        const part = [OpCode.SET_DATA, setData(`/n${i}`, "d")] as const;
        const count = Math.max(1, Math.floor(MULTI_COUNT / attackers.length));
        return range(count, () => attacker.frame(OpCode.MULTI, multiBody(...range(partCount, () => part))));
      });
      return async () => {
        await Promise.all(attackers.map((attacker, i) => attacker.askAll(multis[i] ?? [])));
        const codes = attackers.map((attacker) => codesText(attacker.codes));
        await Promise.all(attackers.map((attacker) => attacker[Symbol.asyncDispose]()));
        return [...new Set(codes)].join("; ");
      };
    },
  };
}

function fewerParts(name: string): Attack {
  const settings = (): readonly string[] => [`zooid.multiPartsMax=${FEW_PARTS}`];
  return { ...pipelinedMultis(name, 1, 1, FEW_PARTS), settings };
}

export const WRITE_ATTACKS: readonly Attack[] = [
  pipelinedMultis("pipelined-multis", 1, 1),
  { ...pipelinedMultis("pipelined-multis-at-a-follower", 1, 1), target: "ensemble" },
  { ...pipelinedMultis("pipelined-multis-at-the-leader", 1, 1), target: "ensemble", at: "leader" },
  { ...fewerParts("pipelined-multis-of-fewer-parts"), target: "ensemble" },
  { ...fewerParts("pipelined-multis-of-fewer-parts-at-the-leader"), target: "ensemble", at: "leader" },
  pipelinedMultis("pipelined-multis-of-one-address", 1, 10),
  pipelinedMultis("pipelined-multis-of-many-addresses", 20, 1),
];
