import { formatZxid } from "@zooid/model";
import type { DurableLog } from "@zooid/txn-log";
import { decodeMembers } from "@zooid/zab";
import { ConfigError } from "../config.ts";

/**
 * A file with one line `server.N`, or with none, makes a server serve alone. Others have its data,
 * where the list in force has more voters: they may serve as well.
 *
 * @throws ConfigError
 */
export function refuseDataOfEnsemble({ committedConfig }: DurableLog): void {
  const members = committedConfig === undefined ? undefined : decodeMembers(committedConfig);
  if (members === undefined || members.verifier.voters.size < 2) return;
  const voters = [...members.verifier.voters].join(", ");
  throw new ConfigError([
    `the data is that of an ensemble of servers ${voters} (configuration ${formatZxid(members.version)}), and this server's file lists no others: ` +
      "list them all, and change the members while a quorum of them serves; if they are lost for good, see zooid-server recover in docs/disaster.md",
  ]);
}
