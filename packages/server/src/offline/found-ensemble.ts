import { randomBytes } from "node:crypto";
import { composeZxid, type Member, membersOf } from "@zooid/model";
import type { Store } from "@zooid/txn-log/sqlite";
import { encodeMembers } from "@zooid/zab";

/** Makes the server of a store the only member of a new ensemble. @returns the ensemble's id */
export async function foundEnsemble(store: Store, member: Member, epoch: number): Promise<string> {
  const ensembleId = randomBytes(8).toString("hex");
  const config = encodeMembers(membersOf([member], composeZxid(epoch, 0)));
  await store.branch({ ensembleId, sid: member.sid, epoch, config });
  return ensembleId;
}
