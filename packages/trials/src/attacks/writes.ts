import { OpCode } from "@zooid/model";
import { create, multiBody, setData } from "@zooid/wire/testing/raw-client";
import { type Attack, codesText, range } from "./attack.ts";
import { Attacker } from "./attacker.ts";

const PART_COUNT = 19_000;
/** Parts of the multis at a server that allows no more. */
const FEW_PARTS = 2000;
/** By all attackers together; enough that the p99 of the victim's sets is not their maximum. */
const MULTI_COUNT = 100;
/**
 * Multis before the attack. The first ones after a start take up to ten times as long, until the
 * code that prepares and applies them is compiled; later ones are what a running server takes.
 */
const WARM_UP_COUNT = 20;

interface PipelinedMultis {
  readonly addressCount: number;
  /** Connections of each address. Default 1. */
  readonly connectionCount?: number;
  readonly partCount?: number;
  readonly warmUpCount?: number;
  readonly multiCount?: number;
}

/**
 * Pipelined multis of as many parts as one may have, from some addresses with some connections
 * each.
 */
function pipelinedMultis(name: string, options: PipelinedMultis): Attack {
  const { addressCount, connectionCount = 1, partCount = PART_COUNT } = options;
  const { warmUpCount = WARM_UP_COUNT, multiCount = MULTI_COUNT } = options;
  const from = `${addressCount} ${addressCount === 1 ? "address" : "addresses"} with ${connectionCount} ${connectionCount === 1 ? "connection" : "connections"} each`;
  return {
    name,
    sends: `${multiCount} pipelined multis of ${partCount} sets in all, from ${from}, after ${warmUpCount}`,
    async prepare({ port }) {
      const attackers = await Promise.all(
        range(addressCount * connectionCount, (i) =>
          Attacker.open({ port, localAddress: `127.4.0.${1 + Math.floor(i / connectionCount)}` }),
        ),
      );
      for (const [i, attacker] of attackers.entries()) await attacker.ask(OpCode.CREATE, create(`/n${i}`));
      const multisOf = (count: number): readonly (readonly Buffer[])[] =>
        attackers.map((attacker, i) => {
          const part = [OpCode.SET_DATA, setData(`/n${i}`, "d")] as const;
          const share = Math.floor(count / attackers.length);
          return range(share, () => attacker.frame(OpCode.MULTI, multiBody(...range(partCount, () => part))));
        });
      const askAll = (multis: readonly (readonly Buffer[])[]): Promise<unknown> =>
        Promise.all(attackers.map((attacker, i) => attacker.askAll(multis[i] ?? [])));
      await askAll(multisOf(warmUpCount));
      const multis = multisOf(multiCount);
      return async () => {
        await askAll(multis);
        const codes = attackers.map((attacker) => codesText(attacker.codes));
        await Promise.all(attackers.map((attacker) => attacker[Symbol.asyncDispose]()));
        return [...new Set(codes)].join("; ");
      };
    },
  };
}

function fewerParts(name: string): Attack {
  const settings = (): readonly string[] => [`zooid.multiPartsMax=${FEW_PARTS}`];
  return { ...pipelinedMultis(name, { addressCount: 1, partCount: FEW_PARTS }), settings };
}

export const WRITE_ATTACKS: readonly Attack[] = [
  pipelinedMultis("pipelined-multis", { addressCount: 1 }),
  pipelinedMultis("pipelined-multis-after-a-start", { addressCount: 1, warmUpCount: 0, multiCount: 20 }),
  { ...pipelinedMultis("pipelined-multis-at-a-follower", { addressCount: 1 }), target: "ensemble" },
  { ...pipelinedMultis("pipelined-multis-at-the-leader", { addressCount: 1 }), target: "ensemble", at: "leader" },
  { ...fewerParts("pipelined-multis-of-fewer-parts"), target: "ensemble" },
  { ...fewerParts("pipelined-multis-of-fewer-parts-at-the-leader"), target: "ensemble", at: "leader" },
  pipelinedMultis("pipelined-multis-of-one-address", { addressCount: 1, connectionCount: 10 }),
  pipelinedMultis("pipelined-multis-of-many-addresses", { addressCount: 20 }),
];
