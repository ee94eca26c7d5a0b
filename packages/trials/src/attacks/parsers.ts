import { OpCode, Permission } from "@zooid/model";
import { type Attack, codesText, createWith, range } from "./attack.ts";
import { Attacker } from "./attacker.ts";

const LONG = 30_000;

/** Texts that make a parser try many ways to read them. */
export const PARSER_ATTACKS: readonly Attack[] = [
  {
    name: "reconfig-of-a-stranger",
    sends: "500 × reconfig without the permission, each with a line of blanks and a carriage return",
    target: "ensemble",
    at: "leader",
    settings: () => ["reconfigEnabled=true"],
    async prepare({ port }) {
      return async () => {
        await using attacker = await Attacker.open({ port });
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
        return codesText(attacker.codes);
      };
    },
  },
  {
    name: "ids-of-colons",
    sends: "200 creates whose access list has an id of a million colons",
    async prepare({ port }) {
      return async () => {
        await using attacker = await Attacker.open({ port });
        const acl = [{ permissions: Permission.ALL, scheme: "digest", id: ":".repeat(1_000_000) }];
        await attacker.askAll(range(200, (i) => attacker.frame(OpCode.CREATE, createWith(`/colons-${i}`, acl))));
        return codesText(attacker.codes);
      };
    },
  },
];
