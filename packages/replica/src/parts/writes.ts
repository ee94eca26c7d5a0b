import type { AutomaticTransfer } from "../automatic-transfer.ts";
import type { FeatureLevel } from "../writes/feature-level.ts";
import type { InFlightWrites } from "../writes/in-flight-writes.ts";
import type { LoggedChanges } from "../writes/logged-changes.ts";
import type { MemberChanges } from "../writes/member-changes.ts";
import type { QuotaNotes } from "../writes/quota-notes.ts";
import type { Reaper } from "../writes/reaper.ts";
import type { TxnProposer } from "../writes/txn-proposer.ts";
import type { GroundParts } from "./ground.ts";

export interface WriteParts extends GroundParts {
  readonly automaticTransfer: AutomaticTransfer;
  readonly inFlightWrites: InFlightWrites;
  readonly proposer: TxnProposer;
  readonly memberChanges: MemberChanges;
  readonly featureLevel: FeatureLevel;
  readonly loggedChanges: LoggedChanges;
  readonly quotaNotes: QuotaNotes;
  readonly reaper: Reaper;
}
