import { OpCode, Permission } from "@zooid/model";
import { type Attack, createWith, range } from "./attack.ts";

const LONG = 30_000;

/** Texts that make a parser try many ways to read them. */
export const PARSER_ATTACKS: readonly Attack[] = [
  {
    name: "reconfig-of-a-stranger",
    sends: "500 × reconfig without the permission, each with a line of blanks and a carriage return",
    target: "ensemble",
    at: "leader",
    settings: () => ["reconfigEnabled=true"],
    async attack(attacker) {
      await attacker.askAll(
        range(500, () =>
          attacker.frame(OpCode.RECONFIG, (writer) => {
            writer.null();
            writer.null();
            writer.text(`server.1=${" ".repeat(LONG / 2)}x${" ".repeat(LONG / 2)}\rx`);
            writer.zxid(-1);
          }),
        ),
      );
    },
  },
  {
    name: "ids-of-colons",
    sends: "200 creates whose access list has an id of a million colons",
    async attack(attacker) {
      const acl = [{ permissions: Permission.ALL, scheme: "digest", id: ":".repeat(1_000_000) }];
      await attacker.askAll(range(200, (i) => attacker.frame(OpCode.CREATE, createWith(`/colons-${i}`, acl))));
    },
  },
];
