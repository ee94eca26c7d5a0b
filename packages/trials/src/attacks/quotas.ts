import { OpCode } from "@zooid/model";
import { create, multiBody, setData, versioned } from "@zooid/wire/testing/raw-client";
import { type Attack, chunks, range } from "./attack.ts";
import type { Attacker } from "./attacker.ts";

const NODE_COUNT = 50_000;
const QUOTA = "/zookeeper/quota";

async function fill(owner: Attacker): Promise<void> {
  await owner.ask(OpCode.CREATE, create("/tenant"));
  const parts = range(NODE_COUNT, (i) => [OpCode.CREATE, create(`/tenant/n${i}`)] as const);
  for (const group of chunks(parts, 1000)) await owner.ask(OpCode.MULTI, multiBody(...group));
  await owner.ask(OpCode.CREATE, create(`${QUOTA}/tenant`));
}

export const QUOTA_ATTACKS: readonly Attack[] = [
  {
    name: "quota-recounts",
    sends: `multis of 1,500 pairs that create and delete the statistics of ${NODE_COUNT} nodes`,
    setUp: fill,
    async attack(attacker) {
      await attacker.ask(OpCode.CREATE, create(`${QUOTA}/tenant/zookeeper_limits`, "count=1000000,bytes=-1"));
      const stats = `${QUOTA}/tenant/zookeeper_stats`;
      const parts = range(3000, (i) =>
        i % 2 === 0 ? ([OpCode.CREATE, create(stats)] as const) : ([OpCode.DELETE, versioned(stats)] as const),
      );
      await attacker.askAll(range(10, () => attacker.frame(OpCode.MULTI, multiBody(...parts))));
      await attacker.ask(OpCode.CREATE, create(`${QUOTA}/zookeeper_limits`, "count=1000000,bytes=-1"));
      await attacker.ask(OpCode.CREATE, create(`${QUOTA}/zookeeper_stats`));
    },
  },
  {
    name: "long-quota-limits",
    sends: "2,000 writes below limits whose text is 855 KB",
    settings: () => ["enforceQuota=true"],
    setUp: fill,
    async attack(attacker) {
      const text = `count=1000000,bytes=-1,${"x=1,".repeat(213_000)}`;
      const limits = `${QUOTA}/tenant/zookeeper_limits`;
      await attacker.ask(OpCode.CREATE, create(limits, "count=1000000,bytes=-1"));
      await attacker.ask(OpCode.SET_DATA, setData(limits, text));
      await attacker.ask(OpCode.CREATE, create(`${QUOTA}/tenant/zookeeper_stats`));
      await attacker.askAll(range(2000, (i) => attacker.frame(OpCode.SET_DATA, setData(`/tenant/n${i}`, "d"))));
    },
  },
];
